# SPDX-License-Identifier: Apache-2.0
"""What fails, and how it ends."""

from __future__ import annotations

import enum
from typing import Optional

from ._native import ffi, lib, text_of


class Code(enum.IntEnum):
    """Why a call failed: docs/errors.md of the project says what each one means, and what to do."""

    BUSY = 1
    TIMED_OUT = 2
    CANCELLED = 3
    LOST = 4
    NOT_OWNER = 5
    UNREACHABLE = 6
    UNKNOWN_OUTCOME = 7
    DENIED = 8
    TLS = 9
    WRONG_TYPE = 10
    READ_ONLY = 11
    OUT_OF_MEMORY = 12
    UNSUPPORTED_BY_SERVER = 13
    SERVER_ERROR = 14
    INVALID_ARGUMENT = 15
    FORKED = 16
    CLOSED = 17
    WOULD_DEADLOCK = 18
    NO_QUORUM = 19
    EXHAUSTED = 20
    DURABILITY_NOT_MET = 21
    CROWDED = 22
    NOT_SET = 23
    TOO_FEW = 24


class ReleaseOutcome(enum.IntEnum):
    """How a hold ended."""

    RELEASED = 0
    WAS_LOST = 1  #: it had been lost before
    UNKNOWN = 2  #: no answer came in time; the lease bounds how long it can still be held
    LEFT = 3
    EMPTY = 4


class HoldState(enum.IntEnum):
    """What is known of a hold here."""

    HELD = 0
    SUSPECT = 1  #: not lost, but its renewals fail
    LOST = 2
    RELEASED = 3
    EMPTY = 4


class LossReason(enum.IntEnum):
    """Why a hold was lost."""

    EXPIRED = 0
    TAKEN = 1
    MAX_HOLD = 2
    CLOSED = 3
    FORKED = 4


class HoldfastError(Exception):
    """What all failures have in common. Its text names the lock, the server and the cause, and never a password."""

    def __init__(self, text: str, code: Code, key: str = "", node: str = "", cause: str = "", may_pass: bool = False) -> None:
        super().__init__(text)
        self.code = code
        self.key = key  #: the lock's name, or ""
        self.node = node  #: the server, or ""
        self.cause = cause
        self.may_pass = may_pass  #: the same call may succeed later, although nothing here changes

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.code, self.key, self.node, self.cause, self.may_pass)


class LockLost(HoldfastError):
    """The lock was lost while it was needed: what it protects may be somebody else's by now."""


class NotAcquired(HoldfastError):
    """Somebody else held the lock until the wait was over, or too many wait for it already."""


class Unavailable(HoldfastError):
    """No server, or not enough of them, could do it, or nobody knows whether one did."""


class Denied(HoldfastError):
    """The server refuses the login, the command or the certificate."""


class Closed(HoldfastError):
    """The client has been closed."""


class Forked(HoldfastError):
    """The client belongs to the parent process: make another one in the child."""


class NotSet(HoldfastError):
    """Nobody has said how many permits there are, or there are never as many as asked for."""


class Cancelled(HoldfastError):
    """Client.release_all() ended the wait."""


class InvalidArgument(HoldfastError, ValueError):
    """Nothing was sent: the text says what is wrong."""


_CLASSES: dict[int, type[HoldfastError]] = {
    Code.BUSY: NotAcquired, Code.TIMED_OUT: NotAcquired, Code.CROWDED: NotAcquired,
    Code.LOST: LockLost, Code.NOT_OWNER: LockLost,
    Code.UNREACHABLE: Unavailable, Code.UNKNOWN_OUTCOME: Unavailable, Code.NO_QUORUM: Unavailable,
    Code.DURABILITY_NOT_MET: Unavailable, Code.READ_ONLY: Unavailable, Code.OUT_OF_MEMORY: Unavailable,
    Code.DENIED: Denied, Code.TLS: Denied, Code.CLOSED: Closed, Code.FORKED: Forked,
    Code.NOT_SET: NotSet, Code.TOO_FEW: NotSet, Code.CANCELLED: Cancelled, Code.INVALID_ARGUMENT: InvalidArgument,
}


def error_of(error: ffi.CData) -> HoldfastError:
    """Of an hf_error."""
    kind = _CLASSES.get(error.code, HoldfastError)
    return kind(text_of(error.text), Code(error.code), text_of(error.key), text_of(error.node), text_of(error.cause),
                bool(error.may_pass))


def hold_ended(error: Optional[HoldfastError]) -> bool:
    """Whether a wait for what happens to a hold failed since that ended; raises what else it failed with."""
    if error is not None and error.code not in (Code.CANCELLED, Code.LOST, Code.NOT_OWNER):
        raise error
    return error is not None


def check(code: int) -> None:
    """Raises what the last call of this thread says, unless it succeeded."""
    if code:
        raise error_of(lib.hf_last_error())
