# SPDX-License-Identifier: Apache-2.0
"""A lock as a dependency of FastAPI: one request at a time for each order, in all processes.

    uvicorn fastapi_dependency:app

FastAPI before 0.93 does not close the client at the end; then the end of the process does."""

import contextlib
import os
from collections.abc import AsyncIterator

from fastapi import Depends, FastAPI, HTTPException

from holdfast import aio

client = aio.connect(os.environ.get("HOLDFAST_URL", "redis://127.0.0.1:6379"))


@contextlib.asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    yield
    await client.close()


app = FastAPI(lifespan=lifespan)


async def order_lock(order: int) -> AsyncIterator[aio.Hold]:
    try:
        async with client.lock(f"orders:{order}").hold(timeout=2) as hold:
            yield hold
    except aio.NotAcquired:
        raise HTTPException(409, "somebody else works on this order") from None


@app.post("/orders/{order}/pay")
async def pay(order: int, hold: aio.Hold = Depends(order_lock)) -> dict[str, str]:
    hold.raise_if_lost()  # right before what must not happen twice
    return {"paid": str(order), "owner": hold.owner}
