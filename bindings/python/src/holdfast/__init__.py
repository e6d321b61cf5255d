# SPDX-License-Identifier: Apache-2.0
"""Distributed locks and synchronizers on Redis and Valkey, shared with Java's Redisson and with C++.

    import holdfast

    with holdfast.connect("redis://localhost:6379") as client:
        with client.lock("orders:42") as hold:
            hold.raise_if_lost()        # right before what must not overlap

All durations that a call takes are seconds or a timedelta, all that it returns are seconds as float. holdfast.aio has the
same names for asyncio. A call that waits lets other threads run, and Ctrl-C ends it.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import json
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Optional, TypeVar, Union

from ._base import (NO_LIMIT, ONCE, UNSET, Acks, BaseClient, BaseCounter, BaseHold, BaseLock, BaseReadWriteLock,
                    BaseTerm, Kind, Seconds, bytes_of, milliseconds, name_by, open_any, open_lock, open_several, options,
                    options_of_wait, raise_loss, wait_of, whole)
from ._errors import (Cancelled, Closed, Code, Denied, Forked, HoldfastError, HoldState, InvalidArgument, LockLost, LossReason,
                      NotAcquired, NotSet, ReleaseOutcome, Unavailable, check, error_of, hold_ended)
from ._native import VERSION as __version__
from ._native import ffi, hold_cell, lib, new_queue, taken_text

__all__ = [
    "Acks", "AnyLock", "Cancelled", "Client", "Closed", "Code", "Denied", "FairLock", "FencedLock", "Forked", "Hold",
    "HoldState", "HoldfastError", "InvalidArgument", "Kind", "Latch", "Leader", "LeasedSemaphore", "Lock", "LockLost",
    "LossReason", "MultiLock", "NotAcquired", "NotSet", "ReadLock", "ReadWriteLock", "RedLock", "ReleaseOutcome", "Semaphore",
    "SimpleLock", "SpinLock", "Term", "Unavailable", "WriteLock", "connect",
]

_log = logging.getLogger("holdfast")
_INT = ffi.typeof("int *")
_SLICE_MS = 100  # how long a wait of the main thread may pass by a signal that came just before it
_Function = TypeVar("_Function", bound=Callable[..., Any])


# ---- waiting ----


class _Queue:
    """For one wait at a time."""

    __slots__ = ("ptr", "completion", "tag")

    def __init__(self) -> None:
        self.ptr = new_queue()
        self.completion = ffi.new("hf_completion *")
        self.tag = 0


class _Queues(threading.local):
    def __init__(self) -> None:
        self.idle: Optional[_Queue] = None


_queues = _Queues()
os.register_at_fork(after_in_child=lambda: setattr(_queues, "idle", None))  # which is the parent's


def _completed(start: Callable[[Any, int], int], cell: Any = None, *, timeout: Optional[float] = None,
               until: Optional[Callable[[], bool]] = None) -> tuple[bool, Optional[HoldfastError]]:
    """Whether a call that is started has completed, and how it failed. Not completed: after the timeout, or once `until` is
    true; it is then ended. If anything is raised meanwhile, so is the call, and what it was granted is given back."""
    queue = _queues.idle or _Queue()
    _queues.idle = None  # a signal's handler may wait, too
    end = None if timeout is None else time.monotonic() + timeout
    queue.tag += 1
    check(start(queue.ptr, queue.tag))
    got = queue.completion
    got.hold = ffi.NULL
    try:
        while True:
            left = _SLICE_MS if end is None else min(_SLICE_MS, int(1000 * (end - time.monotonic())) + 1)
            code = lib.hf_queue_next(queue.ptr, max(left, 0), got)
            if code == lib.HF_OK:
                break
            if code not in (lib.HF_NOTHING, lib.HF_INTERRUPTED):
                check(code)
            if (end is not None and time.monotonic() >= end) or (until is not None and until()):
                return False, None  # with the queue, the call ends
        if cell is not None:
            cell[0] = got.hold
    except BaseException:
        if cell is not None and cell[0] == ffi.NULL:
            cell[0] = got.hold
        raise
    error = error_of(got.error) if got.error.code else None
    _queues.idle = queue
    return True, error


def _first(wait_ms: int) -> Optional[int]:
    """How long the call may wait that nothing interrupts. Only the main thread gets KeyboardInterrupt: it tries once, which is
    quick, before it waits otherwise. None: not even that, since a try may take as long as any command, and longer than the
    limit."""
    if threading.get_ident() != threading.main_thread().ident:
        return wait_ms
    return 0 if wait_ms in (0, NO_LIMIT) else None


def _waits(refusal: HoldfastError) -> bool:
    """Whether a wait goes on where a try ends."""
    return refusal.may_pass or refusal.code in (Code.BUSY, Code.NOT_SET, Code.TOO_FEW)


def _refusal(first: Callable[[int], int], started: Callable[[Any, int], int], wait_ms: int,
             cell: Any = None) -> Optional[HoldfastError]:
    """Waits for what is wanted: None once it is granted, else why it was not. `first` is told how long it may wait."""
    waits = _first(wait_ms)
    if waits is not None:
        if not first(waits):
            return None
        refusal = error_of(lib.hf_last_error())
        if waits == wait_ms or not _waits(refusal):
            return refusal
    return _completed(started, cell)[1]


# ---- holds ----


class Loss:
    """Whether a hold is lost, like a threading.Event."""

    __slots__ = ("_hold",)

    def __init__(self, hold: "Hold") -> None:
        self._hold = hold

    def is_set(self) -> bool:
        return self._hold.is_lost

    def wait(self, timeout: Optional[Seconds] = None) -> bool:
        """Until the hold is lost; False if it was given back first, or the time is over."""
        if self.is_set():
            return True
        seconds = None if timeout is None else milliseconds("timeout", timeout) / 1000
        try:
            _completed(functools.partial(lib.hf_hold_wait_lost_async, self._hold._ptr), timeout=seconds)
        except LockLost:
            pass  # it has been given back
        return self.is_set()


class Hold(BaseHold):
    """A lock that is held. Give it back with release(), or by `with`; one that nobody refers to any more is given back in
    the background. Any thread may use it."""

    __slots__ = ()

    @property
    def lost(self) -> Loss:
        return Loss(self)

    def wait_asked(self, timeout: Optional[Seconds] = None) -> bool:
        """Until somebody asks for the lock, by ask_release() or `holdfast ask-release`; False if the hold ended first, or the
        time is over. Whoever asks meets nobody before the first call; from then on, a request is kept for the next call."""
        seconds = None if timeout is None else milliseconds("timeout", timeout) / 1000
        try:
            asked, failed = _completed(functools.partial(lib.hf_hold_wait_asked_async, self._ptr), timeout=seconds)
        except LockLost:
            return False  # it has been given back
        return asked and not hold_ended(failed)

    def release(self) -> ReleaseOutcome:
        """Gives the lock back, and says how that went; the same a second time. One command."""
        cell = ffi.new("int *")
        check(lib.hf_hold_release(self._ptr, cell))
        return ReleaseOutcome(cell[0])

    def leave(self, rest: Seconds) -> ReleaseOutcome:
        """Ends the hold, but the lock stays taken for that long."""
        cell = ffi.new("int *")
        check(lib.hf_hold_leave(self._ptr, milliseconds("rest", rest), cell))
        return ReleaseOutcome(cell[0])

    def extend(self, lease: Seconds) -> None:
        """Sets another lease, from now on, on a hold with a fixed one."""
        check(lib.hf_hold_extend(self._ptr, milliseconds("lease", lease)))

    def downgrade(self) -> None:
        """Makes a hold of a WriteLock one of its ReadLock, with nobody in between."""
        check(lib.hf_hold_downgrade(self._ptr))

    def __enter__(self) -> "Hold":
        return self

    def __exit__(self, kind: Optional[type[BaseException]], problem: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        _leave(self, problem)


def _leave(hold: Hold, problem: Optional[BaseException]) -> None:
    """The end of a `with`."""
    lost = lib.hf_hold_valid_for(hold._ptr) <= 0 and hold.is_lost
    outcome = ffi.new(_INT)
    check(lib.hf_hold_release(hold._ptr, outcome))
    if lost or outcome[0] == ReleaseOutcome.WAS_LOST:
        raise_loss(hold, problem)


# ---- locks ----


class _Held(threading.local):
    def __init__(self) -> None:
        self.holds: list[Hold] = []


class _Basic(BaseLock):
    """What all kinds of locks can do. `with lock as hold:` waits for the lock, and gives it back at the end."""

    __slots__ = ("_held",)

    def __init__(self, open_: Callable[[Any], int], how: dict[str, Any], keeps: object) -> None:
        super().__init__(open_, how, keeps)
        self._held = _Held()

    def acquire(self, blocking: bool = True, timeout: Optional[Seconds] = None) -> Optional[Hold]:
        """A hold, or None if somebody else has the lock until the timeout, or now, if it is not to block. Raises
        HoldfastError for all else. One command if the lock is free; a wait ends with a message."""
        hold, refusal = self._take(self._wait_of(blocking, timeout))
        return hold if refusal is None else None

    def hold(self, timeout: Optional[Seconds] = None) -> Hold:
        """The same, but raises NotAcquired. For `with lock.hold(timeout=5) as hold:`."""
        hold, refusal = self._take(milliseconds("timeout", timeout, self._default_wait))
        if refusal is not None:
            raise refusal
        return hold

    def _take(self, wait_ms: int) -> tuple[Hold, Optional[NotAcquired]]:
        cell = hold_cell()
        refusal = _refusal(lambda ms: lib.hf_lock_acquire(self._ptr, options_of_wait(ms) if ms else ONCE, cell),
                           lambda queue, tag: lib.hf_lock_acquire_async(self._ptr, options_of_wait(wait_ms), queue, tag),
                           wait_ms, cell)
        if refusal is None:
            return Hold(cell), None
        if not isinstance(refusal, NotAcquired):
            raise refusal
        return Hold(cell), refusal

    def __enter__(self) -> Hold:
        hold = None
        held = self._held.holds
        try:
            hold, refusal = self._take(self._default_wait)
            if refusal is not None:
                raise refusal
            held.append(hold)
            return hold
        except BaseException:
            if hold is not None and held and held[-1] is hold:
                held.pop()
            raise

    def __exit__(self, kind: Optional[type[BaseException]], problem: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        _leave(self._held.holds.pop(), problem)


class _KeyLock(_Basic):
    """A lock that is one key of a server."""

    __slots__ = ()

    def is_locked(self) -> bool:
        """Whether anybody holds it. What this and its like say may be over when it arrives. One command."""
        return _yes(lib.hf_lock_is_locked, self._ptr)

    def is_held_by(self, owner: str) -> bool:
        return _yes(lib.hf_lock_is_held_by, self._ptr, bytes_of("owner", owner))

    def remaining(self) -> Optional[float]:
        """Seconds of the lease; None: nobody holds it."""
        cell = ffi.new("int64_t *")
        check(lib.hf_lock_remaining(self._ptr, cell))
        return None if cell[0] == UNSET else cell[0] / 1000

    def info(self) -> dict[str, Any]:
        """Who holds it, who waits: what `holdfast inspect --json` says."""
        cell = ffi.new("char **")
        check(lib.hf_lock_info(self._ptr, cell))
        return dict(json.loads(taken_text(cell)))

    def force_release(self, owner: Optional[str] = None) -> bool:
        """Takes it away from whoever holds it, or from that owner only. True: it was held."""
        return _yes(lib.hf_lock_force_release, self._ptr, ffi.NULL if owner is None else bytes_of("owner", owner))

    def ask_release(self) -> int:
        """Asks whoever holds it to give it back. How many of them listen: Hold.wait_asked(). One command."""
        cell = ffi.new("size_t *")
        check(lib.hf_lock_ask_release(self._ptr, cell))
        return int(cell[0])

    def adopt(self, ticket: str, *, lease: Optional[Seconds] = None, renewed: Optional[bool] = None,
              max_hold: Optional[Seconds] = None, acks: Optional[int] = None) -> Hold:
        """Goes on with a hold that was detached. Raises LockLost if it has ended meanwhile. One command."""
        cell = hold_cell()
        how = options(lease=lease, renewed=renewed, max_hold=max_hold, acks=acks)
        check(lib.hf_lock_adopt(self._ptr, bytes_of("ticket", ticket), how, cell))
        return Hold(cell)


class Lock(_KeyLock):
    """Redisson's RLock of the same name is the same lock."""

    __slots__ = ()


class SimpleLock(_KeyLock):
    """SET NX PX: shared with the locks of redis-py and many others."""

    __slots__ = ()


class FencedLock(_KeyLock):
    """Each hold has a token that only ever grows."""

    __slots__ = ()

    def latest_token(self) -> int:
        cell = ffi.new("int64_t *")
        check(lib.hf_lock_latest_token(self._ptr, cell))
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
    """`with rw.read():` shares it, `with rw.write():` does not."""

    __slots__ = ()


class LeasedSemaphore(_KeyLock):
    """A lock that may be held as many times as there are permits, which come back when their holder has died."""

    __slots__ = ()

    def init(self, permits: int, lives: Optional[Seconds] = None) -> bool:
        """Says how many permits there are, unless somebody has; True: done. With `lives` it expires after that time."""
        return _yes(lib.hf_permits_init, self._ptr, whole("permits", permits), milliseconds("lives", lives))

    def available(self) -> int:
        return _number(lib.hf_permits_available, self._ptr)

    def set_total(self, permits: int) -> int:
        """Changes how many there are, with those that are held; returns how many are free then."""
        return _number(lib.hf_permits_set_total, self._ptr, whole("permits", permits))

    def add(self, permits: int) -> int:
        """Adds permits, or removes some; returns how many are free then."""
        return _number(lib.hf_permits_add, self._ptr, whole("permits", permits))

    def remove(self) -> bool:
        """As if nobody had said how many there are; who holds one keeps it. True: somebody had."""
        return _yes(lib.hf_permits_remove, self._ptr)


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


def _number(call: Any, *arguments: Any) -> int:
    cell = ffi.new("int64_t *")
    check(call(*arguments, cell))
    return int(cell[0])


def _yes(call: Any, *arguments: Any) -> bool:
    cell = ffi.new("int *")
    check(call(*arguments, cell))
    return bool(cell[0])


def _waited(first: Any, started: Any, wait_ms: int) -> bool:
    """As _Basic._take(), of what has no hold: False if it was not granted in time."""
    refusal = _refusal(lambda ms: first(ms, ffi.NULL), functools.partial(started, wait_ms), wait_ms)
    if refusal is None:
        return True
    if not isinstance(refusal, NotAcquired):
        raise refusal
    return False


class Semaphore(BaseCounter):
    """A number that all clients share (Redisson's RSemaphore). The permits belong to nobody: those of a process that died
    are gone; see LeasedSemaphore."""

    __slots__ = ()
    _kind = "semaphore"

    def acquire(self, permits: int = 1, blocking: bool = True, timeout: Optional[Seconds] = None) -> bool:
        """False: there were not as many until the timeout, or now."""
        wait_ms = wait_of(blocking, timeout)
        number = whole("permits", permits)
        return _waited(functools.partial(lib.hf_semaphore_acquire, self._ptr, number),
                       functools.partial(lib.hf_semaphore_acquire_async, self._ptr, number), wait_ms)

    def release(self, permits: int = 1) -> bool:
        """False: the semaphore is gone, and none was made."""
        return _yes(lib.hf_semaphore_release, self._ptr, whole("permits", permits))

    def available(self) -> int:
        return _number(lib.hf_semaphore_available, self._ptr)

    def init(self, permits: int, lives: Optional[Seconds] = None) -> bool:
        """Says how many permits there are, unless somebody has; True: done. With `lives` it expires after that time."""
        return _yes(lib.hf_semaphore_init, self._ptr, whole("permits", permits), milliseconds("lives", lives))

    def add(self, permits: int) -> int:
        """Adds permits, or removes some; returns how many there are then."""
        return _number(lib.hf_semaphore_add, self._ptr, whole("permits", permits))

    def drain(self) -> int:
        """Takes all, and returns how many there were."""
        return _number(lib.hf_semaphore_drain, self._ptr)

    def remove(self) -> bool:
        """As if nobody had set it; permits that come back make none. True: somebody had."""
        return _yes(lib.hf_semaphore_remove, self._ptr)

    @contextlib.contextmanager
    def permit(self, permits: int = 1, timeout: Optional[Seconds] = None) -> Iterator[None]:
        """`with semaphore.permit():` takes and gives back. Raises NotAcquired."""
        if not self.acquire(permits, timeout=timeout):
            raise NotAcquired(f"semaphore {self.name!r}: not enough permits in time", Code.TIMED_OUT, key=self.name)
        try:
            yield
        finally:
            self.release(permits)


class Latch(BaseCounter):
    """Closed until a number of steps have been made, by anybody (Redisson's RCountDownLatch)."""

    __slots__ = ()
    _kind = "latch"

    def wait(self, timeout: Optional[Seconds] = None) -> bool:
        """Until it is open; False: not in time."""
        return _waited(functools.partial(lib.hf_latch_wait, self._ptr), functools.partial(lib.hf_latch_wait_async, self._ptr),
                       milliseconds("timeout", timeout, NO_LIMIT))

    def init(self, steps: int) -> bool:
        """Closes it for so many steps, unless it is closed; True: done."""
        return _yes(lib.hf_latch_init, self._ptr, whole("steps", steps))

    def count_down(self, steps: int = 1) -> int:
        """Makes steps; returns how many are left."""
        return _number(lib.hf_latch_count_down, self._ptr, whole("steps", steps))

    def count(self) -> int:
        return _number(lib.hf_latch_count, self._ptr)

    def remove(self) -> bool:
        """Then it is open. True: it was closed."""
        return _yes(lib.hf_latch_remove, self._ptr)


# ---- leaders ----


class Term(BaseTerm):
    """While a body leads."""

    __slots__ = ("_asked",)

    def __init__(self, hold: Hold) -> None:
        super().__init__(hold)
        self._asked = threading.Event()

    @property
    def leads(self) -> bool:
        """False once the body should return: the term is lost, or somebody wants it to end."""
        return not self._asked.is_set() and self._hold.valid_for > 0


class Leader:
    """One of many processes does the work, and another one when that ends."""

    PAUSE = 1.0  # after a failure that may pass

    def __init__(self, lock: FencedLock) -> None:
        self._lock = lock
        self._term: Optional[Term] = None

    def lead(self, body: Callable[[Term], Any], timeout: Optional[Seconds] = None) -> Any:
        """Waits until it leads, and returns what the body returns, which is to look at `term.leads`. Raises LockLost if the
        term was lost meanwhile, NotAcquired after the timeout."""
        with self._lock.hold(timeout) as hold:
            return self._serve(hold, body)

    def campaign(self, body: Callable[[Term], Any], stop: Optional[threading.Event] = None, rest: Seconds = 1.0,
                 on_trouble: Optional[Callable[[HoldfastError], Any]] = None) -> None:
        """Leads again and again, until `stop` is set, or the body raises, or a failure that does not pass. A lost term is
        followed by the next campaign, any other one after a rest."""
        end = stop or threading.Event()
        pause = milliseconds("rest", rest) / 1000
        while not end.is_set():
            try:
                hold = self._wait(end)
                if hold is None:
                    return
                with hold:
                    self._serve(hold, body)
            except LockLost:
                _log.warning("term of %r lost", self._lock.name)
                continue
            except HoldfastError as error:
                if not (error.may_pass or error.code == Code.CANCELLED):
                    raise
                _log.warning("campaign for %r: %s", self._lock.name, error)
                if on_trouble is not None:
                    on_trouble(error)
                end.wait(self.PAUSE)
                continue
            end.wait(pause)

    def __call__(self, body: Callable[[Term], Any]) -> Callable[[], Any]:
        """As a decorator: each call of the function leads once."""
        return functools.wraps(body)(lambda: self.lead(body))

    def step_down(self) -> None:
        """Asks the body to return. From any thread."""
        term = self._term
        if term is not None:
            term._asked.set()

    @property
    def leads(self) -> bool:
        term = self._term
        return term is not None and term._hold.valid_for > 0

    def _serve(self, hold: Hold, body: Callable[[Term], Any]) -> Any:
        self._term = Term(hold)
        try:
            return body(self._term)
        finally:
            self._term = None

    def _wait(self, end: threading.Event) -> Optional[Hold]:
        cell = hold_cell()
        start = functools.partial(lib.hf_lock_acquire_async, self._lock._ptr, options_of_wait(NO_LIMIT))
        completed, error = _completed(start, cell, until=end.is_set)
        if error is not None:
            raise error
        return Hold(cell) if completed else None


# ---- clients ----


class Client(BaseClient):
    """A connection to a server, a Sentinel's primary or a cluster, opened by the first call that needs it. The URL has all
    settings: docs/cli.md of the project, section URLs. All threads may use it; a child of fork() may not.

    The locks' methods take, by name: wait, lease, renewed, max_hold, acks, max_waiters; see README.md of this package."""

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
        """A decorator: each call of the function holds a lock, whose name may have its arguments: `locked("job-{id}")`."""

        def decorate(function: _Function) -> _Function:
            if inspect.iscoroutinefunction(function):
                raise TypeError("locked() is for functions that block; see holdfast.aio.Client for coroutine functions")
            lock_name = name_by(name, function)

            @functools.wraps(function)
            def call(*args: Any, **kwargs: Any) -> Any:
                with self.lock(lock_name(*args, **kwargs), **how).hold(timeout):
                    return function(*args, **kwargs)

            return call  # type: ignore[return-value]

        return decorate

    def ping(self) -> None:
        """For health checks: raises HoldfastError. One round trip."""
        check(lib.hf_client_ping(self._ptr))

    def list(self, pattern: str = "*", kind: Kind = Kind.ANY) -> "list[dict[str, Any]]":
        """What `holdfast ls --json` says. Reads all keys of the server by SCAN."""
        cell = ffi.new("char **")
        check(lib.hf_client_list(self._ptr, bytes_of("pattern", pattern), int(kind), cell))
        return [dict(each) for each in json.loads(taken_text(cell))]

    def probe(self, lock: Optional[str] = None) -> dict[str, Any]:
        """What about the servers endangers locks: what `holdfast doctor --json` says."""
        cell = ffi.new("char **")
        check(lib.hf_client_probe(self._ptr, ffi.NULL if lock is None else bytes_of("lock", lock), cell))
        return dict(json.loads(taken_text(cell)))

    def release_all(self, within: Seconds) -> int:
        """Gives back all holds, and ends all waits with Cancelled; returns how many were not confirmed in time."""
        cell = ffi.new("size_t *")
        check(lib.hf_client_release_all(self._ptr, milliseconds("within", within), cell))
        return int(cell[0])

    def close(self) -> None:
        """Gives back what is still held, and ends all waits with Closed."""
        lib.hf_client_close(self._ptr)

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, kind: Optional[type[BaseException]], problem: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()


def connect(url: str) -> Client:
    """Sends nothing yet."""
    return Client(url)
