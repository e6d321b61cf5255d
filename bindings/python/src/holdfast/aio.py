# SPDX-License-Identifier: Apache-2.0
"""The same locks for asyncio: the names of holdfast, with `await` and `async with`.

    from holdfast import aio

    async with aio.connect("redis://localhost:6379") as client:
        async with client.lock("orders:42") as hold:
            hold.raise_if_lost()

A task that is cancelled ends its call: a cancelled acquire leaves nothing on the server. Each loop has a queue of its own, so
one client serves several loops.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
import itertools
import json
import logging
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from types import TracebackType
from typing import Any, Optional, TypeVar, Union

from ._base import (NO_LIMIT, UNSET, Acks, BaseClient, BaseCounter, BaseHold, BaseLock, BaseReadWriteLock,
                    BaseTerm, Kind, Seconds, bytes_of, milliseconds, name_by, open_any, open_lock, open_several, options,
                    options_of_wait, raise_loss, wait_of, whole)
from ._errors import (Cancelled, Closed, Code, Denied, Forked, HoldfastError, HoldState, InvalidArgument, LockLost, LossReason,
                      NotAcquired, NotSet, ReleaseOutcome, Unavailable, check, error_of, hold_ended)
from ._native import ffi, hold_cell, lib, new_queue, taken_text, text_of

__all__ = [
    "Acks", "AnyLock", "Cancelled", "Client", "Closed", "Code", "Denied", "FairLock", "FencedLock", "Forked", "Hold",
    "HoldState", "HoldfastError", "InvalidArgument", "Kind", "Latch", "Leader", "LeasedSemaphore", "Lock", "LockLost",
    "LossReason", "MultiLock", "NotAcquired", "NotSet", "ReadLock", "ReadWriteLock", "RedLock", "ReleaseOutcome", "Semaphore",
    "SimpleLock", "SpinLock", "Term", "Unavailable", "WriteLock", "connect",
]

_log = logging.getLogger("holdfast")
_Function = TypeVar("_Function", bound=Callable[..., Any])


# ---- loops ----


class _Done:
    """What has completed."""

    __slots__ = ("value", "text", "cell", "error")

    def __init__(self, completion: Any) -> None:
        self.cell = None
        if completion.hold:
            self.cell = hold_cell()
            self.cell[0] = completion.hold
        self.value = int(completion.value)
        self.text = text_of(completion.text) if self.cell is None and completion.text[0] != b"\0" else ""
        self.error = error_of(completion.error) if completion.error.code else None


_Undo = Callable[["_LoopQueue"], None]


class _LoopQueue:
    """Of one loop. Only the loop keeps it alive, as its reader, and those that wait, so that it ends with them: what waits
    refers to the loop."""

    def __init__(self) -> None:
        self.ptr = new_queue()
        self.fd = int(lib.hf_queue_fd(self.ptr))
        self.completion = ffi.new("hf_completion *")
        self.waiting: dict[int, tuple["asyncio.Future[_Done]", Optional[_Undo]]] = {}
        self.tags = itertools.count(1)

    def drain(self) -> None:
        while lib.hf_queue_next(self.ptr, 0, self.completion) == lib.HF_OK:
            done = _Done(self.completion)
            future, undo = self.waiting.pop(int(self.completion.tag), (None, None))
            if future is not None and not future.done():
                future.set_result(done)
            elif undo is not None and done.error is None:
                undo(self)

    def start(self, call: Callable[[Any, int], int]) -> None:
        """A call whose end interests nobody."""
        call(self.ptr, next(self.tags))


_loops: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, weakref.ref[_LoopQueue]]" = weakref.WeakKeyDictionary()


def _running() -> asyncio.AbstractEventLoop:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        raise RuntimeError("holdfast.aio needs a running loop of asyncio: trio and others have none") from None


def _queue_of(loop: asyncio.AbstractEventLoop) -> _LoopQueue:
    known = _loops.get(loop)
    queue = known() if known is not None else None
    if queue is None:
        queue = _LoopQueue()
        loop.add_reader(queue.fd, queue.drain)
        _loops[loop] = weakref.ref(queue)
    return queue


async def _call(start: Callable[[Any, int], int], undo: Optional[_Undo] = None) -> _Done:
    """Raises what the call says."""
    done = await _ended(start, undo)
    if done.error is not None:
        raise done.error
    return done


async def _ended(start: Callable[[Any, int], int], undo: Optional[_Undo] = None) -> _Done:
    """`undo` is called if the task is cancelled and the call succeeded all the same; a hold undoes itself."""
    loop = _running()
    queue = _queue_of(loop)
    tag = next(queue.tags)
    future: "asyncio.Future[_Done]" = loop.create_future()
    queue.waiting[tag] = future, undo
    try:
        check(start(queue.ptr, tag))
    except BaseException:
        del queue.waiting[tag]
        raise
    try:
        return await future
    except asyncio.CancelledError:
        lib.hf_queue_cancel(queue.ptr, tag)
        if undo is not None and future.done() and not future.cancelled() and future.result().error is None:
            undo(queue)
        raise


async def _in_thread(call: Any, *arguments: Any) -> None:
    """Of what cannot be started."""
    await _running().run_in_executor(None, lambda: check(call(*arguments)))


# ---- holds ----


class Loss:
    """Whether a hold is lost, like an asyncio.Event."""

    __slots__ = ("_hold",)

    def __init__(self, hold: "Hold") -> None:
        self._hold = hold

    def is_set(self) -> bool:
        return self._hold.is_lost

    async def wait(self) -> bool:
        """Until the hold is lost; False if it was given back first."""
        if self.is_set():
            return True
        try:
            done = await _ended(functools.partial(lib.hf_hold_wait_lost_async, self._hold._ptr))
        except LockLost:
            return False  # it has been given back
        hold_ended(done.error)
        return self.is_set()


class Hold(BaseHold):
    """A lock that is held. Give it back with release(), or by `async with`; one that nobody refers to any more is given back
    in the background."""

    __slots__ = ("_asked", "_outcome")

    def __init__(self, cell: Any) -> None:
        super().__init__(cell)
        self._asked = False
        self._outcome: Optional[ReleaseOutcome] = None

    @property
    def lost(self) -> Loss:
        return Loss(self)

    async def wait_asked(self) -> bool:
        """Until somebody asks for the lock, by ask_release() or `holdfast ask-release`; False if the hold ended first. Whoever
        asks meets nobody before the first call; from then on, a request is kept for the next call."""
        while not self._asked:
            try:
                done = await _ended(functools.partial(lib.hf_hold_wait_asked_async, self._ptr), self._put_back)
            except LockLost:
                return False  # it has been given back
            if done.error is None:
                return True
            if not self._asked:
                return not hold_ended(done.error)
        self._asked = False
        return True

    def _put_back(self, queue: _LoopQueue) -> None:
        """A request that came to a task which had been cancelled: for another one that waits, or for the next call."""
        self._asked = True
        for tag, (_, undo) in queue.waiting.items():
            if undo == self._put_back:
                lib.hf_queue_cancel(queue.ptr, tag)

    async def release(self) -> ReleaseOutcome:
        """Gives the lock back, and says how that went; the same a second time. One command. It goes on if it is cancelled."""
        if self._outcome is None:
            self._outcome = ReleaseOutcome.UNKNOWN  # while it is under way
            done = await _ended(functools.partial(lib.hf_hold_release_async, self._ptr))
            self._outcome = ReleaseOutcome(done.value)
        return self._outcome

    async def extend(self, lease: Seconds) -> None:
        """Sets another lease, from now on, on a hold with a fixed one."""
        await _call(functools.partial(lib.hf_hold_extend_async, self._ptr, milliseconds("lease", lease)))

    async def leave(self, rest: Seconds) -> ReleaseOutcome:
        """Ends the hold, but the lock stays taken for that long."""
        cell = ffi.new("int *")
        await _in_thread(lib.hf_hold_leave, self._ptr, milliseconds("rest", rest), cell)
        self._outcome = ReleaseOutcome(cell[0])
        return self._outcome

    async def downgrade(self) -> None:
        """Makes a hold of a WriteLock one of its ReadLock, with nobody in between."""
        await _call(functools.partial(lib.hf_hold_downgrade_async, self._ptr))

    async def __aenter__(self) -> "Hold":
        return self

    async def __aexit__(self, kind: Optional[type[BaseException]], problem: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        lost = lib.hf_hold_valid_for(self._ptr) <= 0 and self.is_lost
        if await self.release() == ReleaseOutcome.WAS_LOST or lost:
            raise_loss(self, problem)


class _Acquiring:
    """`await` gives the hold; `async with` holds it."""

    __slots__ = ("_acquire", "_hold")

    def __init__(self, acquire: Callable[[], Awaitable[Hold]]) -> None:
        self._acquire = acquire

    def __await__(self) -> Any:
        return self._acquire().__await__()

    async def __aenter__(self) -> Hold:
        self._hold = await self._acquire()
        return self._hold

    async def __aexit__(self, kind: Optional[type[BaseException]], problem: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        await self._hold.__aexit__(kind, problem, trace)


# ---- locks ----


class _Basic(BaseLock):
    """What all kinds of locks can do. `async with lock as hold:` waits for the lock, and gives it back at the end."""

    __slots__ = ("_held",)

    def __init__(self, open_: Callable[[Any], int], how: dict[str, Any], keeps: object) -> None:
        super().__init__(open_, how, keeps)
        self._held: dict["asyncio.Task[Any]", list[Hold]] = {}

    async def acquire(self, blocking: bool = True, timeout: Optional[Seconds] = None) -> Optional[Hold]:
        """A hold, or None if somebody else has the lock until the timeout, or now, if it is not to block. Raises
        HoldfastError for all else. One command if the lock is free; a wait ends with a message."""
        wait_ms = self._wait_of(blocking, timeout)
        try:
            return await self._take(wait_ms)
        except NotAcquired:
            return None

    def hold(self, timeout: Optional[Seconds] = None) -> _Acquiring:
        """The same, but raises NotAcquired. For `async with lock.hold(timeout=5) as hold:`."""
        wait_ms = milliseconds("timeout", timeout, self._default_wait)
        return _Acquiring(lambda: self._take(wait_ms))

    async def _take(self, wait_ms: int) -> Hold:
        return Hold((await _call(functools.partial(lib.hf_lock_acquire_async, self._ptr, options_of_wait(wait_ms)))).cell)

    async def __aenter__(self) -> Hold:
        hold = await self._take(self._default_wait)
        task = asyncio.current_task()
        assert task is not None
        self._held.setdefault(task, []).append(hold)
        return hold

    async def __aexit__(self, kind: Optional[type[BaseException]], problem: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        task = asyncio.current_task()
        assert task is not None
        holds = self._held[task]
        hold = holds.pop()
        if not holds:
            del self._held[task]
        await hold.__aexit__(kind, problem, trace)


class _KeyLock(_Basic):
    """A lock that is one key of a server."""

    __slots__ = ()

    async def is_locked(self) -> bool:
        """Whether anybody holds it. What this and its like say may be over when it arrives. One command."""
        return bool((await _call(functools.partial(lib.hf_lock_is_locked_async, self._ptr))).value)

    async def is_held_by(self, owner: str) -> bool:
        text = bytes_of("owner", owner)
        return bool((await _call(functools.partial(lib.hf_lock_is_held_by_async, self._ptr, text))).value)

    async def remaining(self) -> Optional[float]:
        """Seconds of the lease; None: nobody holds it."""
        left = (await _call(functools.partial(lib.hf_lock_remaining_async, self._ptr))).value
        return None if left == UNSET else left / 1000

    async def info(self) -> dict[str, Any]:
        """Who holds it, who waits: what `holdfast inspect --json` says."""
        return dict(json.loads((await _call(functools.partial(lib.hf_lock_info_async, self._ptr))).text))

    async def force_release(self, owner: Optional[str] = None) -> bool:
        """Takes it away from whoever holds it, or from that owner only. True: it was held."""
        text = ffi.NULL if owner is None else bytes_of("owner", owner)
        return bool((await _call(functools.partial(lib.hf_lock_force_release_async, self._ptr, text))).value)

    async def ask_release(self) -> int:
        """Asks whoever holds it to give it back. How many of them listen: Hold.wait_asked(). One command."""
        return (await _call(functools.partial(lib.hf_lock_ask_release_async, self._ptr))).value

    async def adopt(self, ticket: str, *, lease: Optional[Seconds] = None, renewed: Optional[bool] = None,
                    max_hold: Optional[Seconds] = None, acks: Optional[int] = None) -> Hold:
        """Goes on with a hold that was detached. Raises LockLost if it has ended meanwhile. One command."""
        how = options(lease=lease, renewed=renewed, max_hold=max_hold, acks=acks)
        text = bytes_of("ticket", ticket)
        return Hold((await _call(functools.partial(lib.hf_lock_adopt_async, self._ptr, text, how))).cell)


class Lock(_KeyLock):
    """Redisson's RLock of the same name is the same lock."""

    __slots__ = ()


class SimpleLock(_KeyLock):
    """SET NX PX: shared with the locks of redis-py and many others."""

    __slots__ = ()


class FencedLock(_KeyLock):
    """Each hold has a token that only ever grows."""

    __slots__ = ()

    async def latest_token(self) -> int:
        cell = ffi.new("int64_t *")
        await _in_thread(lib.hf_lock_latest_token, self._ptr, cell)
        return int(cell[0])


class FairLock(_KeyLock):
    """Is granted in the order of asking."""

    __slots__ = ()


class SpinLock(_KeyLock):
    """Waits by asking again: for many locks of which few are contended."""

    __slots__ = ()


class ReadLock(_KeyLock):
    """Many may hold it at a time."""

    __slots__ = ()


class WriteLock(_KeyLock):
    """One holds it, and no reader."""

    __slots__ = ()


class ReadWriteLock(BaseReadWriteLock[ReadLock, WriteLock]):
    """`async with rw.read():` shares it, `async with rw.write():` does not."""

    __slots__ = ()


class LeasedSemaphore(_KeyLock):
    """A lock that may be held as many times as there are permits, which come back when their holder has died."""

    __slots__ = ()

    async def init(self, permits: int, lives: Optional[Seconds] = None) -> bool:
        """Says how many permits there are, unless somebody has; True: done. With `lives` it expires after that time."""
        return await _init(lib.hf_permits_init, lib.hf_permits_init_async, self._ptr, permits, lives)

    async def available(self) -> int:
        return await _number(lib.hf_permits_available_async, self._ptr)

    async def set_total(self, permits: int) -> int:
        """Changes how many there are, with those that are held; returns how many are free then."""
        return await _number(lib.hf_permits_set_total_async, self._ptr, whole("permits", permits))

    async def add(self, permits: int) -> int:
        """Adds permits, or removes some; returns how many are free then."""
        return await _number(lib.hf_permits_add_async, self._ptr, whole("permits", permits))

    async def remove(self) -> bool:
        """As if nobody had said how many there are; who holds one keeps it. True: somebody had."""
        return bool(await _number(lib.hf_permits_remove_async, self._ptr))


class AnyLock(_Basic):
    """Any one of several names: Hold.name says which."""

    __slots__ = ()


class MultiLock(_Basic):
    """All of several locks, which are all Lock or all SimpleLock, of one client or of several."""

    __slots__ = ()

    def __init__(self, locks: Sequence[Union[Lock, SimpleLock]], **how: Any) -> None:
        super().__init__(open_several(lib.hf_multi_open, locks, how), how, list(locks))


class RedLock(_Basic):
    """A majority of several locks on servers that fail independently. What Redlock does not promise: docs/guarantees-by-kind.md."""

    __slots__ = ()

    def __init__(self, locks: Sequence[Union[Lock, SimpleLock, MultiLock]], **how: Any) -> None:
        super().__init__(open_several(lib.hf_red_open, locks, how), how, list(locks))


# ---- counting ----


async def _number(call: Any, *arguments: Any) -> int:
    return (await _call(functools.partial(call, *arguments))).value


async def _init(call: Any, start: Any, ptr: Any, permits: int, lives: Optional[Seconds]) -> bool:
    """The one that is started takes no `lives`."""
    number, lives_ms = whole("permits", permits), milliseconds("lives", lives)
    if lives is None:
        return bool(await _number(start, ptr, number))
    cell = ffi.new("int *")
    await _in_thread(call, ptr, number, lives_ms, cell)
    return bool(cell[0])


async def _waited(start: Callable[[Any, int], int], undo: Optional[_Undo] = None) -> bool:
    try:
        await _call(start, undo)
        return True
    except NotAcquired:
        return False


class Semaphore(BaseCounter):
    """A number that all clients share (Redisson's RSemaphore). The permits belong to nobody: those of a process that died
    are gone; see LeasedSemaphore."""

    __slots__ = ()
    _kind = "semaphore"

    async def acquire(self, permits: int = 1, blocking: bool = True, timeout: Optional[Seconds] = None) -> bool:
        """False: there were not as many until the timeout, or now. A cancelled one takes nothing."""
        wait_ms = wait_of(blocking, timeout)
        number = whole("permits", permits)
        return await _waited(functools.partial(lib.hf_semaphore_acquire_async, self._ptr, number, wait_ms),
                             lambda queue: queue.start(functools.partial(lib.hf_semaphore_release_async, self._ptr, number)))

    async def release(self, permits: int = 1) -> bool:
        """False: the semaphore is gone, and none was made."""
        return bool(await _number(lib.hf_semaphore_release_async, self._ptr, whole("permits", permits)))

    async def available(self) -> int:
        return await _number(lib.hf_semaphore_available_async, self._ptr)

    async def init(self, permits: int, lives: Optional[Seconds] = None) -> bool:
        """Says how many permits there are, unless somebody has; True: done. With `lives` it expires after that time."""
        return await _init(lib.hf_semaphore_init, lib.hf_semaphore_init_async, self._ptr, permits, lives)

    async def add(self, permits: int) -> int:
        """Adds permits, or removes some; returns how many there are then."""
        return await _number(lib.hf_semaphore_add_async, self._ptr, whole("permits", permits))

    async def drain(self) -> int:
        """Takes all, and returns how many there were."""
        return await _number(lib.hf_semaphore_drain_async, self._ptr)

    async def remove(self) -> bool:
        """As if nobody had set it; permits that come back make none. True: somebody had."""
        return bool(await _number(lib.hf_semaphore_remove_async, self._ptr))

    @contextlib.asynccontextmanager
    async def permit(self, permits: int = 1, timeout: Optional[Seconds] = None) -> AsyncIterator[None]:
        """`async with semaphore.permit():` takes and gives back. Raises NotAcquired."""
        if not await self.acquire(permits, timeout=timeout):
            raise NotAcquired(f"semaphore {self.name!r}: not enough permits in time", Code.TIMED_OUT, key=self.name)
        try:
            yield
        finally:
            await self.release(permits)


class Latch(BaseCounter):
    """Closed until a number of steps have been made, by anybody (Redisson's RCountDownLatch)."""

    __slots__ = ()
    _kind = "latch"

    async def wait(self, timeout: Optional[Seconds] = None) -> bool:
        """Until it is open; False: not in time."""
        return await _waited(functools.partial(lib.hf_latch_wait_async, self._ptr, milliseconds("timeout", timeout, NO_LIMIT)))

    async def init(self, steps: int) -> bool:
        """Closes it for so many steps, unless it is closed; True: done."""
        return bool(await _number(lib.hf_latch_init_async, self._ptr, whole("steps", steps)))

    async def count_down(self, steps: int = 1) -> int:
        """Makes steps; returns how many are left."""
        return await _number(lib.hf_latch_count_down_async, self._ptr, whole("steps", steps))

    async def count(self) -> int:
        return await _number(lib.hf_latch_count_async, self._ptr)

    async def remove(self) -> bool:
        """Then it is open. True: it was closed."""
        return bool(await _number(lib.hf_latch_remove_async, self._ptr))


# ---- leaders ----


class Term(BaseTerm):
    """While a body leads. The body is cancelled when the term is lost, or somebody wants it to end."""

    __slots__ = ("_task",)

    def __init__(self, hold: Hold, task: "asyncio.Future[Any]") -> None:
        super().__init__(hold)
        self._task = task

    @property
    def leads(self) -> bool:
        return self._hold.valid_for > 0


class Leader:
    """One of many processes does the work, and another one when that ends."""

    PAUSE = 1.0  # after a failure that may pass

    def __init__(self, lock: FencedLock) -> None:
        self._lock = lock
        self._term: Optional[Term] = None

    async def lead(self, body: Callable[[Term], Awaitable[Any]], timeout: Optional[Seconds] = None) -> Any:
        """Waits until it leads, and returns what the body returns; None if it was asked to step down. Raises LockLost if the
        term was lost meanwhile, NotAcquired after the timeout. The body is cancelled then, and awaited."""
        async with self._lock.hold(timeout) as hold:
            return await self._serve(hold, body)

    async def campaign(self, body: Callable[[Term], Awaitable[Any]], rest: Seconds = 1.0,
                       on_trouble: Optional[Callable[[HoldfastError], Any]] = None) -> None:
        """Leads again and again, until it is cancelled, or the body raises, or a failure that does not pass. A lost term is
        followed by the next campaign, any other one after a rest."""
        pause = milliseconds("rest", rest) / 1000
        while True:
            try:
                await self.lead(body)
            except LockLost:
                _log.warning("term of %r lost", self._lock.name)
                continue
            except HoldfastError as error:
                if not (error.may_pass or error.code == Code.CANCELLED):
                    raise
                _log.warning("campaign for %r: %s", self._lock.name, error)
                if on_trouble is not None:
                    on_trouble(error)
                await asyncio.sleep(self.PAUSE)
                continue
            await asyncio.sleep(pause)

    def __call__(self, body: Callable[[Term], Awaitable[Any]]) -> Callable[[], Awaitable[Any]]:
        """As a decorator: each call of the function leads once."""
        return functools.wraps(body)(lambda: self.lead(body))

    def step_down(self) -> None:
        """Cancels the body. On the loop's thread."""
        if self._term is not None:
            self._term._task.cancel()

    @property
    def leads(self) -> bool:
        return self._term is not None and self._term.leads

    async def _serve(self, hold: Hold, body: Callable[[Term], Awaitable[Any]]) -> Any:
        begin: "asyncio.Future[Term]" = asyncio.get_running_loop().create_future()

        async def serve() -> Any:
            return await body(await begin)

        serving = asyncio.ensure_future(serve())
        losing = asyncio.ensure_future(hold.lost.wait())
        self._term = Term(hold, serving)
        begin.set_result(self._term)
        try:
            await asyncio.wait((serving, losing), return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._term = None
            stepped_down = serving.cancelled()
            for each in (serving, losing):
                each.cancel()
            await asyncio.gather(serving, losing, return_exceptions=True)
        if serving.cancelled():
            if not stepped_down and not hold.is_lost:
                raise asyncio.CancelledError
            return None
        return serving.result()


# ---- clients ----


class Client(BaseClient):
    """As holdfast.Client, for asyncio."""

    def lock(self, name: str, **how: Any) -> Lock:
        return Lock(open_lock(self, lib.HF_LOCK, name, how), how, self)

    def simple_lock(self, name: str, **how: Any) -> SimpleLock:
        return SimpleLock(open_lock(self, lib.HF_SIMPLE, name, how), how, self)

    def fenced_lock(self, name: str, **how: Any) -> FencedLock:
        return FencedLock(open_lock(self, lib.HF_FENCED, name, how), how, self)

    def fair_lock(self, name: str, **how: Any) -> FairLock:
        return FairLock(open_lock(self, lib.HF_FAIR, name, how), how, self)

    def spin_lock(self, name: str, **how: Any) -> SpinLock:
        return SpinLock(open_lock(self, lib.HF_SPIN, name, how), how, self)

    def read_write_lock(self, name: str, **how: Any) -> ReadWriteLock:
        return ReadWriteLock(ReadLock(open_lock(self, lib.HF_READ, name, how), how, self),
                             WriteLock(open_lock(self, lib.HF_WRITE, name, how), how, self))

    def leased_semaphore(self, name: str, permits: int = 1, **how: Any) -> LeasedSemaphore:
        """Of which each hold has so many permits."""
        return LeasedSemaphore(open_lock(self, lib.HF_LEASED, name, {**how, "permits": permits}), how, self)

    def any_lock(self, names: Sequence[str], **how: Any) -> AnyLock:
        return AnyLock(open_any(self, names, how), how, self)

    def semaphore(self, name: str) -> Semaphore:
        return Semaphore(self, name)

    def latch(self, name: str) -> Latch:
        return Latch(self, name)

    def locked(self, name: str, timeout: Optional[Seconds] = None, **how: Any) -> Callable[[_Function], _Function]:
        """A decorator of coroutine functions: each call holds a lock, whose name may have its arguments."""

        def decorate(function: _Function) -> _Function:
            if not inspect.iscoroutinefunction(function):
                raise TypeError("holdfast.aio's locked() is for coroutine functions; see holdfast.Client")
            lock_name = name_by(name, function)

            @functools.wraps(function)
            async def call(*args: Any, **kwargs: Any) -> Any:
                async with self.lock(lock_name(*args, **kwargs), **how).hold(timeout):
                    return await function(*args, **kwargs)

            return call  # type: ignore[return-value]

        return decorate

    async def ping(self) -> None:
        """For health checks: raises HoldfastError. One round trip."""
        await _call(functools.partial(lib.hf_client_ping_async, self._ptr))

    async def list(self, pattern: str = "*", kind: Kind = Kind.ANY) -> "list[dict[str, Any]]":
        """What `holdfast ls --json` says. Reads all keys of the server by SCAN."""
        text = bytes_of("pattern", pattern)
        done = await _call(functools.partial(lib.hf_client_list_async, self._ptr, text, int(kind)))
        return [dict(each) for each in json.loads(done.text)]

    async def probe(self, lock: Optional[str] = None) -> dict[str, Any]:
        """What about the servers endangers locks: what `holdfast doctor --json` says."""
        cell = ffi.new("char **")
        await _in_thread(lib.hf_client_probe, self._ptr, ffi.NULL if lock is None else bytes_of("lock", lock), cell)
        return dict(json.loads(taken_text(cell)))

    async def release_all(self, within: Seconds) -> int:
        """Gives back all holds, and ends all waits with Cancelled; returns how many were not confirmed in time."""
        return await _number(lib.hf_client_release_all_async, self._ptr, milliseconds("within", within))

    async def close(self) -> None:
        """Gives back what is still held, and ends all waits with Closed."""
        await _running().run_in_executor(None, lib.hf_client_close, self._ptr)

    async def __aenter__(self) -> "Client":
        return self

    async def __aexit__(self, kind: Optional[type[BaseException]], problem: Optional[BaseException],
                        trace: Optional[TracebackType]) -> None:
        await self.close()


def connect(url: str) -> Client:
    """Sends nothing yet."""
    return Client(url)
