# SPDX-License-Identifier: Apache-2.0
"""Each kind, on both faces."""

import asyncio
import threading
import time

import pytest

import holdfast
from conftest import SOON, Server, holding, now, until
from holdfast import aio


async def leased(client, name):
    semaphore = client.leased_semaphore(name)
    await now(semaphore.init(1))
    return semaphore


async def multi(face, client, name):
    return face.MultiLock([client.lock(name + "1"), client.lock(name + "2")])


KINDS = {
    "lock": lambda face, client, name: client.lock(name),
    "simple": lambda face, client, name: client.simple_lock(name),
    "fenced": lambda face, client, name: client.fenced_lock(name),
    "fair": lambda face, client, name: client.fair_lock(name),
    "spin": lambda face, client, name: client.spin_lock(name),
    "write": lambda face, client, name: client.read_write_lock(name).write(),
    "leased": lambda face, client, name: leased(client, name),
    "any": lambda face, client, name: client.any_lock([name]),
    "multi": lambda face, client, name: multi(face, client, name),
}


@pytest.fixture(params=KINDS, ids=KINDS)
def kind(request):
    return KINDS[request.param]


def test_one_holds_it_and_another_does_not(face, kind, server):
    async def story():
        client, other = face.connect(server.url), face.connect(server.url)
        lock, theirs = await now(kind(face, client, "orders")), await now(kind(face, other, "orders"))
        async with holding(lock) as hold:
            assert 0 < hold.valid_for <= 30
            hold.raise_if_lost()
            assert not hold.is_lost and hold.loss_reason is None and not hold.lost.is_set()
            assert hold.state == holdfast.HoldState.HELD
            assert hold.owner and hold.name
            assert await now(theirs.acquire(blocking=False)) is None
            assert await now(theirs.acquire(timeout=0.05)) is None
            with pytest.raises(holdfast.NotAcquired) as refusal:
                await now(theirs.hold(timeout=0.05))
            assert refusal.value.code == holdfast.Code.TIMED_OUT
        taken = await now(theirs.acquire(blocking=False))
        assert taken is not None
        assert await now(taken.release()) == holdfast.ReleaseOutcome.RELEASED
        assert await now(taken.release()) == holdfast.ReleaseOutcome.RELEASED
        assert taken.valid_for == 0
        with pytest.raises(holdfast.LockLost):
            taken.raise_if_lost()
        await now(client.close())
        await now(other.close())

    asyncio.run(story())


def test_a_loss_is_told_and_raised(face, kind, server):
    async def story():
        client = face.connect(server.url)
        lock = await now(kind(face, client, "orders"))
        with pytest.raises(holdfast.LockLost):
            async with holding(lock) as hold:
                watching = asyncio.ensure_future(now(hold.lost.wait())) if face is aio else None
                await asyncio.sleep(0)
                server("FLUSHALL")
                told = hold.lost.wait(SOON) if watching is None else await asyncio.wait_for(watching, SOON)
                known = hold.is_lost, hold.valid_for, hold.state, hold.loss_reason
        assert told  # what fails inside would be the cause of the LockLost
        assert known == (True, 0, holdfast.HoldState.LOST, holdfast.LossReason.TAKEN)
        await now(client.close())

    asyncio.run(story())


def test_a_holder_is_asked_for_its_lock(face, kind, server):
    async def heard(names):
        while not sum([await now(each.ask_release()) for each in names]):
            await asyncio.sleep(0.01)

    async def story():
        client, other = face.connect(server.url), face.connect(server.url)
        hold = await now((await now(kind(face, client, "orders"))).acquire())
        wanted = other.lock("orders"), other.lock("orders1")  # the one, or the other of a MultiLock
        assert [await now(each.ask_release()) for each in wanted] == [0, 0]
        if face is aio:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(hold.wait_asked(), 0.05)
        else:
            assert not hold.wait_asked(0.05)
        await asyncio.wait_for(heard(wanted), SOON)
        assert await asyncio.wait_for(now(hold.wait_asked()), SOON)  # what came meanwhile was kept
        if face is aio:  # a cancellation that comes too late to be one
            waiting = asyncio.ensure_future(hold.wait_asked())
            await asyncio.sleep(0)
            await asyncio.wait_for(heard(wanted), SOON)
            waiting.cancel()
            was = await asyncio.gather(waiting, return_exceptions=True)
            assert was == [True] or await asyncio.wait_for(hold.wait_asked(), SOON)
        assert hold.valid_for > 0
        await now(hold.release())
        assert not await now(hold.wait_asked())
        assert not await now(hold.lost.wait())
        lost = await now((await now(kind(face, client, "other"))).acquire())
        server("FLUSHALL")
        assert not await asyncio.wait_for(now(lost.wait_asked()), SOON)
        await now(client.close())
        await now(other.close())

    asyncio.run(story())


class Counter:
    """Read, pause, write: who is not kept apart loses counts."""

    def __init__(self):
        self.number = self.calls = 0

    def increment(self):
        seen = self.number
        time.sleep(0.0002)
        self.number = seen + 1
        self.calls += 1

    async def increment_async(self):
        seen = self.number
        await asyncio.sleep(0.0002)
        self.number = seen + 1
        self.calls += 1


THREADS, ROUNDS = 4, 25


def test_threads_are_kept_apart(kind, server):
    counter = Counter()

    def work(counter, lock_of):
        client = holdfast.connect(server.url)
        lock = lock_of(client)
        for _ in range(ROUNDS):
            with lock:
                counter.increment()
        client.close()

    def all_do(counter, lock_of):
        threads = [threading.Thread(target=work, args=(counter, lock_of)) for _ in range(THREADS)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        return counter

    all_do(counter, lambda client: asyncio.run(now(kind(holdfast, client, "orders"))))
    assert counter.number == counter.calls == THREADS * ROUNDS
    control = all_do(Counter(), lambda client: threading.RLock() if client is None else NoLock())
    assert control.number < control.calls


class NoLock:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def test_tasks_are_kept_apart(kind, server):
    async def all_do(counter, lock):
        async def work():
            for _ in range(ROUNDS):
                async with holding(lock):
                    await counter.increment_async()

        await asyncio.gather(*(work() for _ in range(THREADS)))
        return counter

    async def story():
        async with aio.connect(server.url) as client:
            lock = await now(kind(aio, client, "orders"))
            counter = await all_do(Counter(), lock)
            assert counter.number == counter.calls == THREADS * ROUNDS
            control = await all_do(Counter(), NoLock())
            assert control.number < control.calls

    asyncio.run(story())


def test_what_nobody_refers_to_is_given_back(face, kind, server):
    async def story():
        client = face.connect(server.url)
        lock = await now(kind(face, client, "orders"))
        hold = await now(lock.acquire())
        del hold
        again = await now(lock.acquire(timeout=SOON))
        assert again is not None
        await now(client.close())

    asyncio.run(story())


def test_readers_share(face, server):
    async def story():
        client = face.connect(server.url)
        both = client.read_write_lock("orders")
        async with holding(both.read()), holding(both.read()):
            assert await now(both.write().acquire(blocking=False)) is None
        hold = await now(both.write().acquire())
        assert await now(both.read().acquire(blocking=False)) is None
        await now(hold.downgrade())
        shared = await now(both.read().acquire(blocking=False))
        assert shared is not None
        await now(client.close())

    asyncio.run(story())


def test_tokens_grow(face, server):
    async def story():
        client = face.connect(server.url)
        lock = client.fenced_lock("orders")
        assert await now(lock.latest_token()) == 0
        for token in (1, 2):
            async with holding(lock) as hold:
                assert hold.token == token
        assert await now(lock.latest_token()) == 2
        await now(client.close())

    asyncio.run(story())


def test_counts(face, server):
    async def story():
        client = face.connect(server.url)
        seats = client.semaphore("seats")
        with pytest.raises(holdfast.NotSet):
            await now(seats.acquire(blocking=False))
        assert await now(seats.init(2)) and not await now(seats.init(9))
        assert await now(seats.acquire(2))
        assert not await now(seats.acquire(blocking=False)) and not await now(seats.acquire(timeout=0.05))
        assert await now(seats.release()) and await now(seats.available()) == 1
        assert await now(seats.add(4)) == 5 and await now(seats.drain()) == 5
        await now(seats.add(1))
        async with holding(seats.permit()):
            assert await now(seats.available()) == 0
        assert await now(seats.available()) == 1
        assert await now(seats.remove()) and not await now(seats.remove())
        with pytest.raises(holdfast.NotSet):
            await now(seats.acquire(blocking=False))

        pool = client.leased_semaphore("pool", permits=2)
        assert await now(pool.init(3)) and await now(pool.available()) == 3
        async with holding(pool):
            assert await now(pool.available()) == 1
        assert await now(pool.set_total(4)) == 4 and await now(pool.add(-1)) == 3
        async with holding(pool) as hold:
            assert await now(pool.remove()) and not await now(pool.remove())
            assert hold.valid_for > 0
            assert await now(pool.init(3)) and await now(pool.available()) == 1

        for brief in (client.semaphore("brief"), client.leased_semaphore("short")):
            assert await now(brief.init(1, lives=60)) and not await now(brief.init(1, lives=60))
            assert 0 < int(server("PTTL", brief.name)) <= 60000

        ready = client.latch("ready")
        assert await now(ready.wait(timeout=0))
        assert await now(ready.init(2)) and not await now(ready.wait(timeout=0.05))
        assert await now(ready.count_down()) == 1 and await now(ready.count()) == 1
        assert await now(ready.remove()) and await now(ready.wait())
        await now(client.close())

    asyncio.run(story())


def test_a_majority_is_enough(face):
    servers = [Server() for _ in range(3)]

    async def story():
        clients = [face.connect(each.url) for each in servers]
        lock = face.RedLock([client.lock("orders") for client in clients])
        servers[0].process.kill()
        async with holding(lock) as hold:
            assert hold.valid_for > 0
            assert servers[1].keys() == servers[2].keys() == ["orders"]
        for client in clients:
            await now(client.close())

    try:
        asyncio.run(story())
    finally:
        for each in servers:
            each.stop()


def test_questions(face, server):
    async def story():
        client = face.connect(server.url)
        lock = client.lock("orders", lease=20, renewed=False)
        assert not await now(lock.is_locked()) and await now(lock.remaining()) is None
        hold = await now(lock.acquire())
        assert await now(lock.is_locked()) and await now(lock.is_held_by(hold.owner)) and not await now(lock.is_held_by("x:1"))
        assert 0 < await now(lock.remaining()) <= 20
        assert (await now(lock.info()))["owner"] == hold.owner
        assert [(each["name"], each["kind"]) for each in await now(client.list("ord*"))] == [("orders", "lock")]
        assert "worst" in await now(client.probe("orders"))
        assert "# EOF" in client.metrics() and "# EOF" not in client.metrics(openmetrics=False)
        await now(client.ping())
        await now(hold.extend(25))
        assert hold.valid_for > 20
        ticket = hold.detach()
        with pytest.raises(holdfast.LockLost):
            hold.raise_if_lost()
        adopted = await now(lock.adopt(ticket))
        assert await now(adopted.leave(60)) == holdfast.ReleaseOutcome.LEFT
        assert await now(lock.force_release()) and not await now(lock.force_release("x:1"))
        kept = await now(lock.acquire())
        assert await now(client.release_all(SOON)) == 0
        assert kept.loss_reason == holdfast.LossReason.CLOSED
        assert client.id and client.node
        await now(client.close())

    asyncio.run(story())


def test_locked_functions(face, server):
    client = face.connect(server.url)
    inside = []
    if face is aio:
        @client.locked("job-{number}")
        async def job(number, extra=0):
            inside.append(await client.lock(f"job-{number}").is_locked())
            return number + extra

        with pytest.raises(TypeError):
            client.locked("x")(lambda: None)
    else:
        @client.locked("job-{number}")
        def job(number, extra=0):
            inside.append(client.lock(f"job-{number}").is_locked())
            return number + extra

        with pytest.raises(TypeError):
            @client.locked("x")
            async def wrong():
                pass

    async def story():
        assert await now(job(3, extra=4)) == 7
        await now(client.close())

    asyncio.run(story())
    assert inside == [True] and job.__name__ == "job"
    assert server.keys() == []


def test_leaders(server):
    client = holdfast.connect(server.url)
    leader = holdfast.Leader(client.fenced_lock("leader"))
    seen = []

    def body(term):
        seen.append((term.token, term.leads, term.valid_for > 0, leader.leads))
        leader.step_down()
        return "done" if not term.leads else "leads"

    assert leader.lead(body) == "done"
    stop = threading.Event()

    def again(term):
        seen.append(term.token)
        if term.token == 3:
            stop.set()

    leader.campaign(again, stop, rest=0)
    assert seen == [(1, True, True, True), 2, 3]
    with pytest.raises(holdfast.LockLost):
        leader.lead(lambda term: (server("DEL", "leader"), until(lambda: not term.leads)))
    busy = client.fenced_lock("leader").acquire()
    with pytest.raises(holdfast.NotAcquired):
        leader.lead(body, timeout=0.05)
    stop = threading.Event()
    waiting = threading.Thread(target=leader.campaign, args=(body, stop))
    waiting.start()
    stop.set()
    waiting.join(SOON)
    assert not waiting.is_alive() and busy.valid_for > 0
    assert leader(lambda term: 7).__name__ == "<lambda>"
    client.close()


def test_leaders_of_asyncio(server):
    async def story():
        async with aio.connect(server.url) as client:
            leader = aio.Leader(client.fenced_lock("leader"))
            tokens = []

            async def body(term):
                tokens.append(term.token)
                assert term.leads and leader.leads
                return "done"

            assert await leader.lead(body) == "done"
            begun, ended = asyncio.Event(), []

            async def forever(term):
                begun.set()
                try:
                    await asyncio.sleep(60)
                finally:
                    ended.append(term.leads)

            leading = asyncio.ensure_future(leader.lead(forever))
            await asyncio.wait_for(begun.wait(), SOON)
            assert leader.leads
            leader.step_down()
            assert await leading is None
            begun.clear()
            leading = asyncio.ensure_future(leader.lead(forever))
            await asyncio.wait_for(begun.wait(), SOON)
            server("DEL", "leader")
            with pytest.raises(holdfast.LockLost):
                await leading
            assert ended == [True, False]
            campaign = asyncio.ensure_future(leader.campaign(body, rest=0))
            while len(tokens) < 3:
                await asyncio.sleep(0.01)
            campaign.cancel()
            with pytest.raises(asyncio.CancelledError):
                await campaign
        assert server.keys() == ["leader:holdfast:token"] or all("token" in each for each in server.keys())

    asyncio.run(story())
