# SPDX-License-Identifier: Apache-2.0
"""A taker on this project's package for Python: what chaos tells it, through the face that blocks or through asyncio. The
protocol is described in tests/README.md; of the commands there it knows connect, hold_for, cancel, counters and exit."""

import asyncio
import contextlib
import inspect
import os
import queue
import random
import re
import sys
import threading
import time
import urllib.parse

import holdfast
from holdfast import aio

CHUNK = 0.02  # how often a holder looks at its hold
REST = 0.01  # after a failure
WORDS = {"busy", "timed_out", "cancelled", "lost", "not_owner", "unreachable", "unknown_outcome", "denied", "wrong_type",
         "invalid_argument", "closed", "no_quorum", "would_deadlock"}


class GivenUp(Exception):
    """A wait ended before its limit since the taker wanted it to."""


def clock():
    """Of records."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000


def join(fields):
    def encoded(field):
        return "".join(chr(b) if 0x20 < b < 0x7F and b != 0x25 else f"%{b:02X}" for b in str(field).encode("utf-8", "surrogateescape"))

    return " ".join(map(encoded, fields))


def word_of(error):
    word = error.code.name.lower()
    return word if word in WORDS else "failed"


def one_of(every):
    return every > 0 and random.randrange(every) == 0


async def now(result):
    """What a call returns, on either face."""
    return await result if inspect.isawaitable(result) else result


def finished(coroutine):
    """Runs one that never waits: on the face that blocks, all do their waiting inside of their calls."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise RuntimeError("it waits")


# ---- faces ----


class Blocking:
    """Each hold_for has a thread; the first one has the main thread, where calls wait in another way."""

    def __init__(self):
        self.module = holdfast
        self.threads = []
        self.main = queue.SimpleQueue()
        self.main_is_free = True

    Stop = threading.Event
    callback = staticmethod(lambda coroutine_function: lambda *arguments: finished(coroutine_function(*arguments)))

    def spawn(self, coroutine):
        if self.main_is_free:
            self.main_is_free = False
            self.main.put(coroutine)
            return
        self.threads.append(threading.Thread(target=finished, args=(coroutine,)))
        self.threads[-1].start()

    def run(self, session):
        reader = threading.Thread(target=self.read, args=(session,))
        reader.start()
        while (coroutine := self.main.get()) is not None:
            finished(coroutine)
        for each in (reader, *self.threads):
            each.join()

    def read(self, session):
        for line in sys.stdin:
            if not session.submit(line.rstrip("\n")):
                break
        session.end()
        for client in session.clients:
            client.close()
        self.main.put(None)

    async def sleep(self, seconds):
        time.sleep(seconds)

    async def lost_within(self, hold, seconds):
        return hold.lost.wait(seconds)

    async def wait(self, _, call, limit, gives_up):
        """`call` with the limit. Nothing but its limit ends it: who is to give up earlier has a shorter one."""
        if gives_up is None:
            return call(limit)
        result = call(gives_up)
        if not result:
            raise GivenUp
        return result

    async def campaign(self, leader, body, stop, failed):
        leader.campaign(body, stop, rest=0.002, on_trouble=failed)

    @contextlib.contextmanager
    def later(self, call, seconds):
        timer = threading.Timer(seconds, call)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()


class Asyncio:
    """Each hold_for is a task of one loop."""

    def __init__(self):
        self.module = aio
        self.tasks = set()

    class Stop:
        """Like an asyncio.Event, which also cancels what its task waits for."""

        def __init__(self):
            self.waiting = None
            self._is_set = False

        def is_set(self):
            return self._is_set

        def set(self):
            self._is_set = True
            if self.waiting is not None:
                self.waiting.cancel()

    callback = staticmethod(lambda coroutine_function: coroutine_function)

    def spawn(self, coroutine):
        task = asyncio.create_task(coroutine)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def run(self, session):
        asyncio.run(self.read(session))

    async def read(self, session):
        lines = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
        while (line := (await lines.readline()).decode()) and session.submit(line.rstrip("\n")):
            pass
        session.end()
        for client in session.clients:
            await client.close()
        await asyncio.gather(*self.tasks)

    async def sleep(self, seconds):
        await asyncio.sleep(seconds)

    async def lost_within(self, hold, seconds):
        try:
            return await asyncio.wait_for(hold.lost.wait(), seconds)
        except asyncio.TimeoutError:
            return hold.is_lost

    async def wait(self, stop, call, limit, gives_up):
        """`call` with the limit, cancelled after `gives_up` seconds, or by the stop."""
        if stop.is_set():
            raise GivenUp
        stop.waiting = task = asyncio.ensure_future(call(limit))
        try:
            with contextlib.nullcontext() if gives_up is None else self.later(task.cancel, gives_up):
                return await task
        except asyncio.CancelledError:
            raise GivenUp from None
        finally:
            stop.waiting = None

    async def campaign(self, leader, body, stop, failed):
        with contextlib.suppress(GivenUp):
            await self.wait(stop, lambda _: leader.campaign(body, rest=0.002, on_trouble=failed), None, None)

    @contextlib.contextmanager
    def later(self, call, seconds):
        timer = asyncio.get_running_loop().call_later(seconds, call)
        try:
            yield
        finally:
            timer.cancel()


# ---- rounds ----


class NumberFile:
    """A number in digits of fixed width: a reader sees all of it or the one before."""

    WIDTH = 20

    def __init__(self, path):
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def read(self):
        return int(os.pread(self.fd, self.WIDTH, 0) or 0)

    def write(self, number):
        os.pwrite(self.fd, b"%0*d\n" % (self.WIDTH - 1, number), 0)


class Way:
    """What hold_for says behind the limit on waiting."""

    def __init__(self, words):
        given = dict(word.split("=", 1) for word in words)
        self.lease = given.pop("lease_ms", None)
        self.longest = int(given.pop("long_ms", 0)) / 1000
        self.long_every = int(given.pop("long_every", 0))
        self.abandon_every = int(given.pop("abandon_every", 0))
        self.permits = int(given.pop("permits", 0))
        self.campaigns = given.pop("campaigns", "no") == "yes"
        self.sets = given.pop("sets", "no") == "yes"
        if given:
            raise ValueError(f"no such way: {', '.join(given)}")


class Rounds:
    """What all have in common: the arguments of hold_for."""

    def __init__(self, session, stop, thread, name, files, time_ms, record, pause_ms="0", wait_ms="30000", *way):
        self.session, self.stop, self.face = session, stop, session.face
        self.thread, self.name, self.files = thread, name, files.split(",")
        self.end = time.monotonic() + int(time_ms) / 1000
        self.record = os.open(record, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self.pause, self.limit, self.way = int(pause_ms) / 1000, int(wait_ms) / 1000, Way(way)
        self.wait_is = f"wait={wait_ms}"

    def write(self, *fields):
        os.write(self.record, (join(fields) + "\n").encode())

    def over(self):
        return self.stop.is_set() or time.monotonic() >= self.end

    def pause_ends(self):
        """Of so many pauses one is longer."""
        return time.monotonic() + (random.uniform(0, self.way.longest) if one_of(self.way.long_every) else self.pause)

    async def wait(self, call):
        """Of so many waits one is given up within 20 ms. `call` is told its limit in seconds."""
        return await self.face.wait(self.stop, call, self.limit,
                                    random.uniform(0, 0.02) if one_of(self.way.abandon_every) else None)

    async def sleep_until(self, end):
        while not self.over() and (left := end - time.monotonic()) > 0:
            await self.face.sleep(min(left, CHUNK))

    async def look(self, name, ask):
        """Asks for what is left."""
        called = clock()
        with contextlib.suppress(holdfast.HoldfastError):  # then nobody knows
            left = await now(ask())
            self.write("left", name, called, clock(), left)

    async def run(self):
        written = 0
        while not self.over():
            written += await self.round()
        return written


class Locking(Rounds):
    """Wait for the lock, read the number, pause, write it back plus 1 unless the lock is lost, release. Who shares the lock
    with others writes nothing."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        how = {} if self.way.lease is None else {"lease": int(self.way.lease) / 1000, "renewed": False}
        self.key = self.name.removeprefix("read:")
        self.any = "," in self.key
        self.shared = self.key != self.name or self.session.kind_of(self.name) == "leased"
        self.lock = self.session.lock_of(self.name, how)
        self.numbers = dict(zip(self.key.split(","), map(NumberFile, self.files)))
        self.set_is = [f"set={self.key}"] if self.any else []
        self.shared_is = f"shared={'yes' if self.shared else 'no'}"
        self.deadline = 0

    async def run(self):
        await self.make_permits()
        return await super().run()

    async def round(self):
        called = clock()
        try:
            hold = await self.wait(lambda limit: self.lock.acquire(timeout=limit))
        except GivenUp:
            await self.fail(called, "cancelled", "given up")
        except holdfast.HoldfastError as error:
            await self.failed(called, error)
        else:
            if hold is not None:
                return await self.use(hold, called)
            await self.fail(called, "timed_out" if self.limit else "busy", "held by somebody else")
        return 0

    async def failed(self, called, error):
        await self.fail(called, word_of(error), f"{error.code.name.lower()}: {error.cause}")

    async def fail(self, called, word, cause):
        self.write("fail", self.key, called, clock(), cause, self.wait_is, f"word={word}", self.shared_is, *self.set_is)
        if word != "cancelled":
            await self.face.sleep(REST)
            await self.make_permits()

    async def make_permits(self):
        """A server that has lost its data has no semaphore."""
        if self.way.permits:
            with contextlib.suppress(holdfast.HoldfastError):  # whoever fails next tries again
                await now(self.lock.init(self.way.permits))

    def still_valid(self, hold):
        """Moves the deadline on while the hold stands. Valid times are rounded down, hence one more millisecond."""
        at = clock()
        valid_ms = round(hold.valid_for * 1000)
        if valid_ms > 0:
            self.deadline = at + 1000 * (valid_ms + 1)
        return valid_ms > 0

    def begin(self, hold, key, owner, called):
        """Writes down the grant. The fields with which a line of this hold begins, those with which it ends, and the number."""
        granted = clock()
        self.deadline = 0
        value = 0 if self.shared else self.numbers[key].read() + 1
        self.still_valid(hold)
        self.deadline = self.deadline or granted  # it was over before its grant was heard of
        more = [self.wait_is, "checked=yes", self.shared_is, f"token={hold.token}", *self.set_is]
        self.write("grant", key, owner, called, granted, self.deadline, value, *more)
        return [key, owner, called, granted], more, value

    def wrote(self, hold, key, value):
        """The number that was written; 0: none."""
        if self.shared or not self.still_valid(hold):
            return 0
        self.numbers[key].write(value)
        return value

    async def use(self, hold, called):
        """1 if a number was written."""
        fields, more, value = self.begin(hold, hold.name if self.any else self.key, hold.owner, called)
        told = 0
        end = self.pause_ends()
        while self.still_valid(hold) and not self.stop.is_set() and (left := end - time.monotonic()) > 0:
            if await self.face.lost_within(hold, min(left, CHUNK)):
                told = clock()
        written = self.wrote(hold, fields[0], value)
        released = clock()
        self.write("release", fields[0], fields[1], fields[3], released)
        before = hold.loss_reason
        outcome = await now(hold.release())
        ended = clock()
        reason = hold.loss_reason if before is None else before
        self.write("hold", *fields, self.deadline, told, released, ended, outcome.name.lower(),
                   "-" if reason is None else reason.name.lower(), written, *more, "waits=yes")
        return 1 if written else 0


class Leading(Locking):
    """A hold is the body of a Leader, or of its campaign. Whether the lock was given back behind it is not known."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.leader = self.face.module.Leader(self.lock)
        self.body = self.face.callback(self.term)
        self.called = 0
        self.written = 0
        if self.way.campaigns:
            self.wait_is = "wait=-1"

    async def run(self):
        if not self.way.campaigns:
            return await super().run()
        self.called = clock()
        while not self.over():
            try:
                await self.face.campaign(self.leader, self.body, self.stop, self.in_trouble)
            except holdfast.HoldfastError as error:
                self.in_trouble(error)
                await self.face.sleep(REST)
        return self.written

    def in_trouble(self, error):
        """Before the leader stands again, which it does after a while."""
        self.write("fail", self.key, self.called, clock(), f"{error.code.name.lower()}: {error.cause}", self.wait_is,
                   f"word={word_of(error)}", self.shared_is)
        self.called = clock()

    async def round(self):
        self.called, before = clock(), self.written
        try:
            await self.face.wait(self.stop, lambda limit: self.leader.lead(self.body, limit), self.limit, None)
        except holdfast.LockLost:
            pass  # the body has written it down
        except GivenUp:
            if self.called:
                await self.fail(self.called, "cancelled", "given up")
        except holdfast.HoldfastError as error:
            if self.called:
                await self.failed(self.called, error)
        return self.written - before

    async def term(self, term):
        """What it holds, it knows at the end of its body only as far as the term says it."""
        owner = f"{self.session.clients[0].id}:{term.token}"
        fields, more, value = self.begin(term, self.key, owner, self.called)
        steps_down = self.way.campaigns and one_of(self.way.abandon_every)
        told = 0
        try:
            with self.face.later(self.leader.step_down, random.uniform(0, 0.02)) if steps_down else contextlib.nullcontext():
                end = self.pause_ends()
                while self.still_valid(term) and term.leads and not self.stop.is_set() and (left := end - time.monotonic()) > 0:
                    await self.face.sleep(min(left, CHUNK))
        except asyncio.CancelledError:
            told = 0 if self.still_valid(term) else clock()
            raise
        finally:
            written = self.wrote(term, self.key, value)
            self.written += 1 if written else 0
            released = clock()
            self.write("release", self.key, owner, fields[3], released)
            reason = "-" if not told else "taken" if told + 1000 < self.deadline else "expired"
            outcome = "unknown" if term.valid_for > 0 else "was_lost"
            self.write("hold", *fields, self.deadline, told, released, clock(), outcome, reason, written, *more, "waits=yes")
            self.called = 0 if not self.way.campaigns else clock()


class Permits(Rounds):
    """Takes a permit of a plain semaphore, pauses, gives it back. A process that is killed takes permits with it for good, so
    each two seconds have a semaphore of their own, by the clock that all processes share: NAME.1, NAME.2."""

    NEW_NAME = 2_000_000
    latest = 0

    def semaphore(self, number):
        return self.session.clients[0].semaphore(f"{self.name}.{number}")

    async def round(self):
        number = clock() // self.NEW_NAME
        semaphore = self.semaphore(number)
        if number != self.latest:
            self.latest = number
            await self.make(semaphore)
            before = self.semaphore(number - 2)  # by now those who had one of its permits have given it back
            await self.look(before.name, before.available)
        called = clock()
        try:
            if await self.wait(lambda limit: semaphore.acquire(timeout=limit)):
                return await self.use(semaphore, called)
            await self.fail(semaphore, called, "timed_out", "no permit")
        except GivenUp:
            await self.fail(semaphore, called, "cancelled", "no permit")
        except holdfast.HoldfastError as error:
            await self.fail(semaphore, called, word_of(error), f"{error.code.name.lower()}: {error.cause}")
        return 0

    async def use(self, semaphore, called):
        granted = clock()
        fields = semaphore.name, self.thread, called, granted, 0, 0
        self.write("grant", *fields, self.wait_is, "shared=yes")
        await self.sleep_until(self.pause_ends())
        released = clock()
        self.write("release", semaphore.name, self.thread, granted, released)
        try:
            outcome = "released" if await now(semaphore.release()) else "gone"
        except holdfast.HoldfastError as error:
            outcome = word_of(error)
        self.write("hold", *fields, released, clock(), outcome, "-", 0, self.wait_is, "shared=yes")
        return 1 if outcome == "released" else 0

    async def fail(self, semaphore, called, word, cause):
        self.write("fail", semaphore.name, called, clock(), cause, self.wait_is, f"word={word}", "shared=yes")
        if word != "cancelled":
            await self.face.sleep(REST)
            await self.make(semaphore)

    async def make(self, semaphore):
        with contextlib.suppress(holdfast.HoldfastError):  # whoever fails next tries again
            await now(semaphore.init(self.way.permits))


class Latches(Rounds):
    """One who sets a latch for each round, NAME.1, NAME.2, and writes its number to a file; others who read it there. Each
    makes a step, and waits until the latch is open."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.rounds = NumberFile(self.files[0])
        self.latest = self.rounds.read()

    async def round(self):
        number = self.latest + 1 if self.way.sets else self.rounds.read()
        if number == self.latest:
            await self.face.sleep(0.002)
            return 0
        self.latest = number
        latch = self.session.clients[0].latch(f"{self.name}.{number}")
        if self.way.sets:
            if await self.recorded(latch, "set", lambda: latch.init(self.way.permits), "set", "closed") != "set":
                await self.face.sleep(REST)
                return 0
            self.rounds.write(number)
        await self.sleep_until(self.pause_ends())
        # A process that is killed now may have made it.
        self.write("latch", latch.name, "steps", clock(), 0, "unknown", self.way.permits, self.wait_is)
        await self.recorded(latch, "step", latch.count_down, "counted", "counted")
        outcome = await self.recorded(latch, "wait", lambda: self.wait(latch.wait), "open", "closed")
        await self.look(latch.name, latch.count)
        return 1 if outcome == "open" else 0

    async def recorded(self, latch, what, call, done, not_done):
        called = clock()
        try:
            outcome = done if await now(call()) else not_done
        except GivenUp:
            outcome = "cancelled"
        except holdfast.HoldfastError as error:
            outcome = word_of(error)
        if outcome == "closed" and what == "wait" and self.stop.is_set():
            outcome = "cancelled"  # a wait that ends with the run says nothing
        self.write("latch", latch.name, what, called, clock(), outcome, self.way.permits, self.wait_is)
        return outcome


# ---- the session ----


class Session:
    """Carries out lines."""

    def __init__(self):
        self.face = None
        self.clients = []
        self.kind = "lock"
        self.stops = {}
        self.output = threading.Lock()

    def submit(self, line):
        """False: it was the last one."""
        tag, verb, *arguments = map(urllib.parse.unquote, line.split(" "))
        began = time.monotonic_ns() // 1000
        if verb == "exit":
            return False
        try:
            if verb == "hold_for":
                self.stops[tag] = stop = self.face.Stop()
                self.face.spawn(self.hold_for(tag, began, self.rounds_of(arguments[1])(self, stop, *arguments)))
            else:
                self.answer(tag, began, "ok", {"cancel": self.cancel, "counters": self.counters}[verb](*arguments))
        except (holdfast.HoldfastError, KeyError, TypeError, ValueError) as error:
            self.answer(tag, began, "error", "usage", f"{type(error).__name__}: {error}")
        return True

    def answer(self, tag, began, *fields):
        line = join((tag, began, time.monotonic_ns() // 1000, *fields))
        with self.output:
            print(line, flush=True)

    async def hold_for(self, tag, began, rounds):
        try:
            self.answer(tag, began, "ok", await rounds.run())
        except Exception as error:  # the driver is to know of it
            self.answer(tag, began, "error", "failed", f"{type(error).__name__}: {error}")
            raise

    def connect(self, urls, *settings):
        """On which face its commands are."""
        given = {"face": "hold", **dict(setting.split("=", 1) for setting in settings)}
        self.face = {"hold": Blocking, "async": Asyncio}[given.pop("face")]()
        self.kind = given.pop("kind", "lock")
        given.pop("events", None)  # the package does not tell of connections
        more = {key.removesuffix("_ms"): value + "ms" if key.endswith("_ms") else value for key, value in given.items()}
        if "name_prefix" in more:
            more["fair_with_prefix"] = "on"
        query = urllib.parse.urlencode(more)
        # What follows a comma and has no scheme is one more address of the same URL.
        self.clients = [self.face.module.connect(f"{url}{'&' if '?' in url else '?'}{query}")
                        for url in re.split(r",(?=[a-z+]+://)", urls)]
        return self.clients[0].id

    def cancel(self, tag):
        self.stops[tag].set()
        return "yes"

    def counters(self):
        wakes = re.search(r"^holdfast_missed_wakes_total (\d+)", self.clients[0].metrics(), re.M)
        return f"safety_poll_wakes={wakes.group(1)}"

    def end(self):
        for stop in self.stops.values():
            stop.set()

    def kind_of(self, name):
        return self.kind if self.kind != "by_name" else name.removeprefix("read:").partition(".")[0]

    def rounds_of(self, name):
        return {"semaphore": Permits, "latch": Latches, "leader": Leading}.get(self.kind_of(name), Locking)

    def lock_of(self, name, how):
        client, kind = self.clients[0], self.kind_of(name)
        if kind == "red":
            return self.face.module.RedLock([each.lock(name) for each in self.clients], **how)
        if "," in name:
            return client.any_lock(name.split(","), **how)
        if kind == "read_write":
            both = client.read_write_lock(name.removeprefix("read:"), **how)
            return both.write() if name == both.name else both.read()
        of_kind = {"fenced": client.fenced_lock, "leader": client.fenced_lock, "fair": client.fair_lock, "spin": client.spin_lock,
                   "simple": client.simple_lock, "leased": client.leased_semaphore}
        return of_kind.get(kind, client.lock)(name, **how)


def main():
    session = Session()
    tag, _, *arguments = map(urllib.parse.unquote, sys.stdin.readline().rstrip("\n").split(" "))
    session.answer(tag, time.monotonic_ns() // 1000, "ok", session.connect(*arguments))
    session.face.run(session)


if __name__ == "__main__":
    main()
