# SPDX-License-Identifier: Apache-2.0
"""What users of redis-py's locks are used to, with SimpleLock, which shares their keys. The README has the whole list."""

import asyncio
import concurrent.futures
import os

import pytest

import holdfast
from conftest import SOON, holding, now, until
from holdfast import aio


@pytest.fixture
def told(face, server):
    """Runs a coroutine function with a client and a function that makes locks of the name `orders`."""
    def run(story):
        async def whole():
            client = face.connect(server.url)
            try:
                await story(client, lambda **how: client.simple_lock("orders", **how))
            finally:
                await now(client.close())

        asyncio.run(whole())

    return run


def left(server):
    """Of the lease, in seconds."""
    return int(server("PTTL", "orders")) / 1000


def test_the_key_has_the_owner_and_goes_with_the_release(told, server):
    async def story(client, lock):
        hold = await now(lock().acquire())
        assert server("GET", "orders") == hold.owner and 25 < left(server) <= 30
        assert await now(hold.release()) == holdfast.ReleaseOutcome.RELEASED and server.keys() == []

    told(story)


def test_a_lease_is_the_life_of_the_key(told, server):
    async def story(client, lock):
        async with holding(lock(lease=9.5, renewed=False)) as hold:
            assert 8 < left(server) <= 9.5 and 8 < hold.valid_for <= 9.5
        async with holding(lock(lease=1.5)):
            until(lambda: left(server) < 1.2)
            until(lambda: left(server) > 1.3)  # it is renewed

    told(story)


def test_a_fixed_lease_can_be_set_anew(told, server):
    async def story(client, lock):
        async with holding(lock(lease=10, renewed=False)) as hold:
            for lease in (20, 5.5, 10):
                await now(hold.extend(lease))
                assert lease - 2 < left(server) <= lease and lease - 2 < hold.valid_for <= lease
        with pytest.raises(holdfast.LockLost):
            await now(hold.extend(10))
        async with holding(lock()) as hold:
            with pytest.raises(ValueError, match="renewed"):
                await now(hold.extend(10))

    told(story)


def test_what_somebody_else_has_is_left_alone(told, server):
    async def story(client, lock):
        for ends in ("release", "extend", "with"):
            taken = lock(lease=20, renewed=False)
            with pytest.raises(holdfast.LockLost, match="orders") as loss:
                async with holding(taken) as hold:
                    server("SET", "orders", "theirs")
                    if ends == "release":
                        assert await now(hold.release()) == holdfast.ReleaseOutcome.WAS_LOST
                    if ends == "extend":
                        with pytest.raises(holdfast.LockLost):
                            await now(hold.extend(10))
            assert loss.value.key == "orders" and server("GET", "orders") == "theirs"
            assert await now(hold.release()) == holdfast.ReleaseOutcome.WAS_LOST
            server("DEL", "orders")

    told(story)


def test_a_block_may_give_the_lock_back_itself(told, server):
    async def story(client, lock):
        async with holding(lock()) as hold:
            await now(hold.release())
            assert server.keys() == []

    told(story)


def test_a_refusal_names_the_lock(told, server):
    async def story(client, lock):
        server("SET", "orders", "theirs")
        for refused in (lock(wait=0.05), lock(wait=0)):
            with pytest.raises(holdfast.NotAcquired, match="orders") as refusal:
                async with holding(refused):
                    pass
            assert refusal.value.key == "orders"
        assert server("GET", "orders") == "theirs"

    told(story)


def test_a_hold_belongs_to_no_thread(server):
    with holdfast.connect(server.url) as client, concurrent.futures.ThreadPoolExecutor(2) as threads:
        lock = client.simple_lock("orders")
        hold = threads.submit(lock.acquire).result(SOON)
        assert lock.acquire(blocking=False) is None and threads.submit(lock.acquire, blocking=False).result(SOON) is None
        hold.raise_if_lost()
        assert hold.release() == holdfast.ReleaseOutcome.RELEASED
        with lock as hold:
            assert lock.acquire(blocking=False) is None, "not even by the thread that has it"
            assert threads.submit(hold.release).result(SOON) == holdfast.ReleaseOutcome.RELEASED


def test_a_release_that_is_cancelled_goes_on(server):
    async def story():
        async with aio.connect(server.url) as client:
            for steps in range(30):
                hold = await client.simple_lock("orders").acquire(timeout=SOON)
                releasing = asyncio.ensure_future(hold.release())
                for _ in range(steps + 1):
                    await asyncio.sleep(0)
                releasing.cancel()
                await asyncio.wait([releasing])
                until(lambda: server.keys() == [])

    asyncio.run(story())


def test_each_row_of_the_page_has_its_test():
    proofs = {
        "`blocking_timeout`; `sleep`": "test_one_holds_it_and_another_does_not",
        "without a `timeout` the key stays for ever; `timeout=9.5` is its life": "test_a_lease_is_the_life_of_the_key",
        "a `with` that does not get the lock raises": "test_a_refusal_names_the_lock",
        "the end of a `with` whose lock has expired raises, unless told not to": "test_a_loss_is_told_and_raised",
        "a release of what is not held, or is somebody else's, raises": "test_what_somebody_else_has_is_left_alone",
        "`extend` adds to what is left, or replaces it": "test_a_fixed_lease_can_be_set_anew",
        "`reacquire`": "test_a_lease_is_the_life_of_the_key",
        "`locked()`; `owned()`": "test_questions",
        "the caller may choose the token": "test_the_key_has_the_owner_and_goes_with_the_release",
        "tokens belong to threads, unless told not to": "test_a_hold_belongs_to_no_thread",
        "in asyncio, a cancelled release can be called again": "test_a_release_that_is_cancelled_goes_on",
    }
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "..", "README.md"), encoding="utf-8") as file:
        table = file.read().split("| redis-py | here |\n| --- | --- |\n")[1].split("\n\n")[0]
    assert [row.split(" | ")[0].removeprefix("| ") for row in table.splitlines()] == list(proofs)
    found = ""
    for name in os.listdir(folder):
        if name.startswith("test_"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                found += file.read()
    assert [name for name in proofs.values() if f"\ndef {name}(" not in found] == []
