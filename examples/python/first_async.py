# SPDX-License-Identifier: Apache-2.0
"""The same for asyncio, with a limit on waiting: python3 first_async.py redis://127.0.0.1:6379"""

import asyncio
import os
import sys

from holdfast import aio


async def main(url: str) -> None:
    async with aio.connect(url) as client:
        try:
            async with client.lock("orders:42").hold(timeout=5) as hold:
                hold.raise_if_lost()
                print(f"ours for at least {hold.valid_for:.1f} s")
        except aio.NotAcquired:
            print("somebody else had it for 5 s")


asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("HOLDFAST_URL", "redis://127.0.0.1:6379")))
