# SPDX-License-Identifier: Apache-2.0
"""What holdfast and holdfast.aio have in common: arguments, handles, and what is known without asking."""

from __future__ import annotations

import atexit
import datetime
import enum
import inspect
import math
import weakref
from collections.abc import Callable, Sequence
from typing import Any, Generic, Optional, TypeVar, Union

from ._errors import Code, HoldState, InvalidArgument, LockLost, LossReason, check
from ._native import ffi, lib, taken_text, text_of

Reader = TypeVar("Reader")
Writer = TypeVar("Writer", bound="BaseLock")
Seconds = Union[int, float, datetime.timedelta]
UNSET = -1
NO_LIMIT = 2**63 - 1


class Acks(enum.IntEnum):
    """What has to confirm a grant and each renewal; a number above 0 means so many replicas."""

    NONE = 0
    MAJORITY = -2
    ALL = -3
    AOF = -4


class Kind(enum.IntEnum):
    """What Client.list() looks for."""

    LOCKS = 0
    READ_WRITE = 1
    SIMPLE = 2
    LEASED = 3
    SEMAPHORES = 4
    LATCHES = 5
    ANY = 6
    """LOCKS, READ_WRITE and LEASED: all that is found by the type of a key."""


def wrong(text: str) -> InvalidArgument:
    return InvalidArgument(text, Code.INVALID_ARGUMENT, cause=text)


def milliseconds(name: str, time: Optional[Seconds], unset: int = UNSET) -> int:
    """Rounded up."""
    if time is None:
        return unset
    if isinstance(time, datetime.timedelta):
        seconds = time.total_seconds()
    elif isinstance(time, (int, float)) and not isinstance(time, bool):
        seconds = float(time)
    else:
        raise TypeError(f"{name} is {type(time).__name__}: give seconds, or a timedelta")
    if math.isnan(seconds) or seconds < 0:
        raise wrong(f"{name} is {time}: it cannot be below 0")
    return min(math.ceil(seconds * 1000 - 1e-6), NO_LIMIT) if seconds < 1e15 else NO_LIMIT


def whole(name: str, number: int) -> int:
    if isinstance(number, bool) or not isinstance(number, int):
        raise TypeError(f"{name} is {type(number).__name__}: give an int")
    if not -(2**63) <= number < 2**63:
        raise wrong(f"{name} is out of range")
    return number


def bytes_of(name: str, text: str) -> bytes:
    if not isinstance(text, str):
        raise TypeError(f"{name} is {type(text).__name__}: give a str")
    out = text.encode("utf-8", "surrogateescape")
    if b"\0" in out:
        raise wrong(f"{name} has a 0 in it")
    return out


def options(wait: Optional[Seconds] = None, lease: Optional[Seconds] = None, renewed: Optional[bool] = None,
            max_hold: Optional[Seconds] = None, acks: Optional[int] = None, max_waiters: Optional[int] = None,
            permits: Optional[int] = None) -> Any:
    kind = lib.HF_LEASE_UNSET if renewed is None else lib.HF_LEASE_RENEWED if renewed else lib.HF_LEASE_FIXED
    return ffi.new("hf_options *", [
        ffi.sizeof("hf_options"), milliseconds("wait", wait), milliseconds("lease", lease), milliseconds("max_hold", max_hold),
        UNSET if max_waiters is None else whole("max_waiters", max_waiters), UNSET if permits is None else whole("permits", permits),
        kind, lib.HF_ACKS_UNSET if acks is None else whole("acks", acks), ffi.NULL])


def options_of_wait(wait_ms: int) -> Any:
    """The defaults of a handle with another limit."""
    given = ffi.new(_OPTIONS, _DEFAULTS)
    given.wait_ms = wait_ms
    return given


_OPTIONS = ffi.typeof("hf_options *")
_DEFAULTS = options()[0]
ONCE = options_of_wait(0)


class Handle:
    """Something of the library's, which is freed with this object."""

    __slots__ = ("_ptr", "_keeps", "__weakref__")

    def __init__(self, kind: str, free: Any, open_: Callable[[Any], int], keeps: object = None) -> None:
        self._keeps = keeps  # what it needs as long as it lives
        cell = ffi.new(f"hf_{kind} **")
        check(open_(cell))
        self._ptr = ffi.gc(cell[0], free)

    def __reduce__(self) -> Any:
        raise TypeError(f"a {type(self).__name__} stays in its process: it cannot be pickled or copied; give its name instead")


class BaseHold:
    """One granted acquisition of a lock. What it says costs nothing: nothing is sent."""

    __slots__ = ("_cell", "_lost", "__weakref__")

    def __init__(self, cell: Any) -> None:
        self._cell = cell

    @property
    def _ptr(self) -> Any:
        return self._cell[0]

    @property
    def name(self) -> str:
        return text_of(lib.hf_hold_name(self._ptr))

    @property
    def owner(self) -> str:
        """As it is on the wire."""
        return text_of(lib.hf_hold_owner(self._ptr))

    @property
    def token(self) -> int:
        """Of a fenced lock: larger than that of every grant before it. 0 for other kinds."""
        return int(lib.hf_hold_token(self._ptr))

    @property
    def valid_for(self) -> float:
        """For how many seconds it is certain that nobody else has the lock; 0.0: it is lost or given back."""
        return int(lib.hf_hold_valid_for(self._ptr)) / 1000

    @property
    def durable_for(self) -> float:
        """The same even if the primary fails now, for a hold with acks."""
        return int(lib.hf_hold_durable_for(self._ptr)) / 1000

    @property
    def state(self) -> HoldState:
        return HoldState(lib.hf_hold_state(self._ptr))

    @property
    def is_lost(self) -> bool:
        return self.loss_reason is not None

    @property
    def loss_reason(self) -> Optional[LossReason]:
        reason = lib.hf_hold_loss_reason(self._ptr)
        return None if reason < 0 else LossReason(reason)

    def raise_if_lost(self) -> None:
        """Call it right before a step that must not overlap with somebody else's. Raises LockLost."""
        check(lib.hf_hold_check(self._ptr))

    def detach(self) -> str:
        """Lets the lock go without giving it back: whoever has the ticket can adopt() it. Sends nothing."""
        cell = ffi.new("char **")
        check(lib.hf_hold_detach(self._ptr, cell))
        return taken_text(cell)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.name!r}, valid for {self.valid_for:.3f} s>"

    def __reduce__(self) -> Any:
        raise TypeError("a Hold stays in its process: it cannot be pickled or copied; see detach()")


def raise_loss(hold: BaseHold, problem: Optional[BaseException]) -> None:
    """At the end of a `with` in which the hold was lost: from what the body raised, unless that was meant to end more than
    the body."""
    if problem is None or isinstance(problem, Exception):
        raise LockLost(f"lock {hold.name!r} was lost while it was held", Code.LOST, key=hold.name) from problem


class BaseLock(Handle):
    """What all kinds of locks know."""

    __slots__ = ("_default_wait",)

    def __init__(self, open_: Callable[[Any], int], how: dict[str, Any], keeps: object) -> None:
        super().__init__("lock", lib.hf_lock_free, open_, keeps)
        self._default_wait = milliseconds("wait", how.get("wait"), NO_LIMIT)

    @property
    def name(self) -> str:
        return text_of(lib.hf_lock_name(self._ptr))

    def _wait_of(self, blocking: bool, timeout: Optional[Seconds]) -> int:
        if not blocking and timeout is not None and timeout != -1:
            raise wrong("timeout without blocking")
        return wait_of(blocking, timeout, self._default_wait)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"


def wait_of(blocking: bool, timeout: Optional[Seconds], unset: int = NO_LIMIT) -> int:
    """Of an acquire() as threading has it, where -1 is no timeout."""
    return milliseconds("timeout", None if timeout == -1 else timeout, unset) if blocking else 0


class BaseReadWriteLock(Generic[Reader, Writer]):
    """Two locks of one name."""

    __slots__ = ("_reader", "_writer")

    def __init__(self, reader: Reader, writer: Writer) -> None:
        self._reader = reader
        self._writer = writer

    def read(self) -> Reader:
        return self._reader

    def write(self) -> Writer:
        return self._writer

    @property
    def name(self) -> str:
        return self._writer.name


class BaseCounter(Handle):
    """A semaphore or a latch, as `_kind` says."""

    __slots__ = ("name",)
    _kind = ""

    def __init__(self, client: "BaseClient", name: str) -> None:
        text = bytes_of("name", name)
        open_, free = getattr(lib, f"hf_{self._kind}_open"), getattr(lib, f"hf_{self._kind}_free")
        super().__init__(self._kind, free, lambda out: int(open_(client._ptr, text, out)), client)
        self.name = name


class BaseTerm:
    """While a body leads."""

    __slots__ = ("_hold",)

    def __init__(self, hold: BaseHold) -> None:
        self._hold = hold

    @property
    def token(self) -> int:
        """Larger than that of every term before."""
        return self._hold.token

    @property
    def valid_for(self) -> float:
        return self._hold.valid_for


class BaseClient(Handle):
    """See holdfast.Client."""

    __slots__ = ("__dict__",)

    def __init__(self, url: str) -> None:
        super().__init__("client", lib.hf_client_free, lambda out: int(lib.hf_client_open(bytes_of("url", url), out)))
        _open.add(self)
        if _ending:
            lib.hf_client_close(self._ptr)

    @property
    def id(self) -> str:
        """The part of each owner that names this client."""
        return text_of(lib.hf_client_id(self._ptr))

    @property
    def node(self) -> str:
        """The server, without a password."""
        return text_of(lib.hf_client_node(self._ptr))

    def metrics(self, openmetrics: bool = True) -> str:
        """What it has counted, as text for Prometheus. Sends nothing."""
        cell = ffi.new("char **")
        check(lib.hf_client_metrics(self._ptr, lib.HF_OPENMETRICS if openmetrics else lib.HF_PROMETHEUS, cell))
        return taken_text(cell)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.node}>"


_open: "weakref.WeakSet[BaseClient]" = weakref.WeakSet()
_ending = False


@atexit.register
def _close_all() -> None:
    """What a program still holds when it ends is given back; and no thread that goes on takes anything more, which nobody
    would give back."""
    global _ending
    _ending = True
    for client in list(_open):
        lib.hf_client_close(client._ptr)


def named(client: Optional[BaseClient], clients: dict[str, BaseClient]) -> dict[str, BaseClient]:
    """Those whose metrics are wanted: one, which needs no name, or several."""
    if (client is None) != bool(clients):
        raise TypeError("give one client, or several that have names: orders=client, jobs=other")
    for each in (client, *clients.values()):
        if each is not None and not isinstance(each, BaseClient):
            raise TypeError(f"{type(each).__name__} is no client: give what holdfast.connect() returns")
    return {"": client} if client is not None else clients


def open_lock(client: BaseClient, kind: int, name: str, how: dict[str, Any]) -> Callable[[Any], int]:
    text = bytes_of("name", name)
    given = options(**how)
    return lambda out: int(lib.hf_lock_open(client._ptr, kind, text, given, out))


def open_any(client: BaseClient, names: Sequence[str], how: dict[str, Any]) -> Callable[[Any], int]:
    if isinstance(names, str):
        raise TypeError("names is a str: give several names")
    texts = [ffi.new("char[]", bytes_of("names", name)) for name in names]
    given = options(**how)
    return lambda out: int(lib.hf_any_open(client._ptr, texts or ffi.NULL, len(texts), given, out))


def open_several(call: Any, members: Sequence[Handle], how: dict[str, Any]) -> Callable[[Any], int]:
    pointers = [each._ptr for each in members]
    given = options(**how)
    return lambda out: int(call(pointers or ffi.NULL, len(pointers), given, out))


def name_by(template: str, function: Callable[..., Any]) -> Callable[..., str]:
    """The lock's name for a call of the function, whose arguments the template names."""
    signature = inspect.signature(function)

    def name(*args: Any, **kwargs: Any) -> str:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return template.format(**bound.arguments)

    return name
