# SPDX-License-Identifier: Apache-2.0
"""Locks that are shared with Java's Redisson, in a process of its own, on both faces: each side keeps the other out, and
each wakes the other. The peers are those of tests/interop, built by tools/peers; tests/README.md has the lines that they
understand."""

import asyncio
import contextlib
import itertools
import os
import random
import subprocess
import time
import urllib.parse

import pytest

import holdfast
from conftest import Server, now
from holdfast import aio

PEERS = os.environ.get("HOLDFAST_PEERS_DIR") or os.path.join(os.path.dirname(__file__), "../../../build/peers")
PROMPT = 15  # seconds: far above what a message takes, and below both sides' looks at a lock of which no message tells
ROUNDS = 15
BRIEF = 10  # a lease, after which a waiter of Redisson looks again: a stall in the crowd, seen once, would last a minute


class Peer:
    """A process of Redisson."""

    def __init__(self, process, server):
        self._process = process
        self._server = server
        self._url = f"redis://127.0.0.1:{server.open_port()}"
        self._tags = map(str, itertools.count(1))
        self._waiting = {}
        self._reading = asyncio.ensure_future(self._read())

    async def _read(self):
        while line := (await self._process.stdout.readline()).decode().rstrip("\n"):
            tag, _, _, outcome, *rest = map(urllib.parse.unquote, line.split(" "))
            answer = self._waiting.pop(tag)
            if outcome == "ok":
                answer.set_result(rest[0] if rest else "")
            else:
                answer.set_exception(AssertionError(" ".join(rest)))

    def __call__(self, command, *arguments):
        """A future of what it answers."""
        tag = next(self._tags)
        answer = self._waiting[tag] = asyncio.get_running_loop().create_future()
        fields = [urllib.parse.quote(str(field), safe="") for field in (tag, command, *arguments)]
        self._process.stdin.write((" ".join(fields) + "\n").encode())
        return answer

    async def begin(self, command, *arguments):
        """The same, of one that waits: it listens."""
        await until(lambda: not self._listens(), "they listen for ever")
        answer = self(command, *arguments)
        await until(lambda: self._listens() or answer.done(), "they do not wait")
        return answer

    def _listens(self):
        """Only its connections are not of a unix socket."""
        return "addr=127.0.0.1:" in self._server("CLIENT", "LIST", "TYPE", "pubsub")

    def look(self):
        """What the server has, for whoever reads of a failure."""
        ask = self._server
        return [(key, ask("PTTL", key), ask("HGETALL", key), ask("LRANGE", key, 0, -1)) for key in ask.keys()], ask("CLIENT", "LIST")

    async def use(self, kind, lease=60, others=()):
        """From now on its names are of this kind, on this server and those others. False: this version has no such kind."""
        await self("connect", ",".join([self._url, *others]), f"kind={kind}", f"lease_ms={1000 * lease}")
        try:
            await self("locked", "any name")
        except AssertionError as refused:
            return "this version has no" not in str(refused)  # one of several locks refuses only the question
        return True

    async def close(self):
        self._process.stdin.close()
        await asyncio.wait_for(self._process.wait(), PROMPT)
        await self._reading


def program_of(name):
    """What starts this peer. Where it could not be built, the test is skipped, or fails if all peers are required."""
    skipped = os.path.join(PEERS, name, "skipped")
    if os.path.exists(skipped):
        with open(skipped, encoding="utf-8") as file:
            why_not = f"no {name}: {file.readline().strip()}"
        (pytest.fail if os.environ.get("HOLDFAST_PEERS") == "required" else pytest.skip)(why_not)
    if not os.path.exists(os.path.join(PEERS, name, "run")):
        pytest.skip(f"no {name}: not built (tools/peers)")
    return os.path.join(PEERS, name, "run")


@contextlib.asynccontextmanager
async def started(program, server):
    process = await asyncio.create_subprocess_exec(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    peer = Peer(process, server)
    try:
        yield peer
        await peer.close()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


class Us:
    """A face, as coroutines."""

    def __init__(self, face, url):
        self.face = face
        self.client = face.connect(f"{url}?lease=60s&safety_poll=60s")
        self.brief = face.connect(f"{url}?lease={BRIEF}s&safety_poll=60s")

    async def __call__(self, function, *arguments, **named):
        """On a thread of its own, unless it can be awaited."""
        if self.face is aio:
            return await function(*arguments, **named)
        return await asyncio.get_running_loop().run_in_executor(None, lambda: function(*arguments, **named))

    async def begin(self, function):
        """A task that waits."""
        task = asyncio.ensure_future(self(function))
        await until(lambda: "holdfast_waiters 1" in self.client.metrics().splitlines(), "we do not wait")
        return task

    async def count_up(self, lock, path):
        """What loses updates unless the lock keeps all others out."""
        for _ in range(ROUNDS):
            hold = await self(lock.acquire)
            value = number_in(path)
            await asyncio.sleep(random.random() * 0.004)
            path.write_text(f"{value + 1}\n")
            await self(hold.release)


def number_in(path):
    return int(path.read_text() or "0") if path.exists() else 0


async def soon(awaitable):
    return await asyncio.wait_for(awaitable, PROMPT)


async def until(holds, otherwise):
    end = time.monotonic() + PROMPT
    while not holds():
        assert time.monotonic() < end, otherwise
        await asyncio.sleep(0.01)


def multi(client, name):
    several = aio.MultiLock if isinstance(client, aio.Client) else holdfast.MultiLock
    return several([client.lock(each) for each in name.split(",")])


KINDS = {
    "lock": lambda client, name: client.lock(name),
    "fair": lambda client, name: client.fair_lock(name),
    "read_write": lambda client, name: client.read_write_lock(name).write(),
    "fenced": lambda client, name: client.fenced_lock(name),
    "spin": lambda client, name: client.spin_lock(name),
    "multi": multi,
}
WITHOUT_MESSAGES = {"spin"}


def name_of(kind):
    return "one,two" if kind == "multi" else kind


async def each_keeps_the_other_out(peer, us, folder):
    for kind, lock_of in KINDS.items():
        if not await peer.use(kind, BRIEF):
            continue
        path, name = folder / kind, name_of(kind)
        await peer("increment", 9, name, path, 1)  # its classes are loaded
        theirs = [peer("increment", thread, name, path, ROUNDS, 1) for thread in (1, 2)]
        ours = [asyncio.ensure_future(us.count_up(lock_of(us.brief, name), path)) for _ in range(2)]
        _, stuck = await asyncio.wait([*theirs, *ours], timeout=2 * PROMPT)
        assert not stuck, f"{kind}: {[each in stuck for each in (*theirs, *ours)]}, two of theirs, two of ours; {peer.look()}"
        await asyncio.gather(*theirs, *ours)
        assert number_in(path) == 4 * ROUNDS + 1, kind


async def each_wakes_the_other(peer, us, folder):
    for kind, lock_of in KINDS.items():
        if kind in WITHOUT_MESSAGES or not await peer.use(kind):
            continue
        name = name_of(kind)
        lock = lock_of(us.client, name)
        await soon(peer("lock", 1, name))
        assert await us(lock.acquire, blocking=False) is None, kind
        waiting = await us.begin(lock.acquire)
        assert not waiting.done(), kind
        assert await soon(peer("unlock", 1, name)) == "released"
        hold = await soon(waiting)
        assert await soon(peer("try", 1, name, 0)) == "no", kind
        their_wait = await peer.begin("lock", 2, name)
        assert not their_wait.done(), kind
        assert await us(hold.release) == holdfast.ReleaseOutcome.RELEASED
        await soon(their_wait)
        assert await us(lock.acquire, timeout=0.05) is None, kind
        assert await soon(peer("unlock", 2, name)) == "released"


async def a_majority_is_shared(peer, us, folder):
    servers = [Server(), Server()]
    try:
        await peer.use("red", others=[f"redis://127.0.0.1:{each.open_port()}" for each in servers])
        clients = [us.client, *(us.face.connect(each.url) for each in servers)]
        lock = us.face.RedLock([client.lock("red") for client in clients])
        await soon(peer("lock", 1, "red"))
        assert await us(lock.acquire, blocking=False) is None
        assert await soon(peer("unlock", 1, "red")) == "released"
        servers[1].process.kill()  # two are a majority
        hold = await us(lock.acquire, timeout=PROMPT)
        assert hold is not None and await soon(peer("try", 2, "red", 0)) == "no"
        assert await us(hold.release) == holdfast.ReleaseOutcome.RELEASED
        assert await soon(peer("try", 2, "red", 0)) == "yes"
        assert await us(lock.acquire, blocking=False) is None
        assert await soon(peer("unlock", 2, "red")) == "released"
        for client in clients[1:]:
            await now(client.close())
    finally:
        await peer.use("lock")
        for each in servers:
            each.stop()


async def readers_share_and_writers_wait(peer, us, folder):
    await peer.use("read_write")
    ours = us.client.read_write_lock("table")
    await soon(peer("lock", 1, "read:table"))
    reading = await us(ours.read().acquire, blocking=False)
    assert reading is not None
    assert await soon(peer("try", 2, "read:table", 0)) == "yes"
    assert await us(ours.write().acquire, blocking=False) is None
    assert await soon(peer("try", 3, "table", 0)) == "no"
    assert [await soon(peer("unlock", thread, "read:table")) for thread in (1, 2)] == ["released"] * 2
    writing = await peer.begin("lock", 3, "table")
    await us(reading.release)
    await soon(writing)
    assert await us(ours.read().acquire, blocking=False) is None
    reading = await us.begin(ours.read().acquire)
    assert await soon(peer("unlock", 3, "table")) == "released"
    reading = await soon(reading)
    assert await soon(peer("try", 3, "table", 0)) == "no" and await soon(peer("try", 3, "read:table", 0)) == "yes"
    writing = await us.begin(ours.write().acquire)
    await us(reading.release)
    assert not writing.done()
    assert await soon(peer("unlock", 3, "read:table")) == "released"
    await us((await soon(writing)).release)


async def permits_and_steps_are_shared(peer, us, folder):
    await peer.use("lock")
    seats, leased, gate = (us.client.semaphore("seats"), us.client.leased_semaphore("leased"), us.client.latch("gate"))

    async def theirs(what, name, number=1, thread=1):
        return await soon(peer("counting", thread, what, name, number, 0))

    assert await theirs("semaphore.set", "seats", 1) == "yes"
    assert await us(seats.acquire)
    assert await theirs("semaphore.try", "seats") == "no"
    waiting = await peer.begin("counting", 2, "semaphore.acquire", "seats", 1, 0)
    await us(seats.release)
    await soon(waiting)
    assert not await us(seats.acquire, blocking=False)
    waiting = await us.begin(seats.acquire)
    await theirs("semaphore.release", "seats")
    assert await soon(waiting)

    assert await us(leased.init, 1)
    hold = await us(leased.acquire)
    assert await theirs("leased.available", "leased") == "0" and await theirs("leased.try", "leased", 0) == "no"
    waiting = await peer.begin("counting", 2, "leased.acquire", "leased", 0, 0)
    await us(hold.release)
    await soon(waiting)
    assert await us(leased.acquire, blocking=False) is None
    waiting = await us.begin(leased.acquire)
    assert await theirs("leased.release", "leased", thread=2) == "released"
    await us((await soon(waiting)).release)

    assert await theirs("latch.set", "gate", 2) == "yes" and await us(gate.count) == 2
    both = [await us.begin(gate.wait), await peer.begin("counting", 2, "latch.wait", "gate", 0, 1000 * PROMPT)]
    await us(gate.count_down)
    assert await theirs("latch.count", "gate") == "1" and not any(each.done() for each in both)
    await theirs("latch.count_down", "gate", 1)
    assert await soon(both[0]) and await soon(both[1]) == "yes"
    assert await us(gate.init, 1) and await theirs("latch.count", "gate") == "1"
    waiting = await peer.begin("counting", 2, "latch.wait", "gate", 0, 1000 * PROMPT)
    await us(gate.count_down)
    assert await soon(waiting) == "yes"


@pytest.mark.parametrize("name", ["redisson-3.14.0", "redisson-4"])
def test_all_kinds_are_shared_with_redisson(face, server, tmp_path, name):
    """In one test, since Java starts slowly."""
    program = program_of(name)
    parts = (each_keeps_the_other_out, each_wakes_the_other, readers_share_and_writers_wait, permits_and_steps_are_shared,
             a_majority_is_shared)

    async def story():
        async with started(program, server) as peer:
            us = Us(face, server.url)
            try:
                for part in parts:
                    await asyncio.wait_for(part(peer, us, tmp_path), 4 * PROMPT)
            finally:
                await now(us.client.close())  # and with it, what still waits in a thread
                await now(us.brief.close())

    asyncio.run(story())
