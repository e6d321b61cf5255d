# SPDX-License-Identifier: Apache-2.0
"""The library for C: the one beside this file, as in a wheel, or else the system's, as in a package of Debian."""

from __future__ import annotations

import os
from typing import Any

from ._cffi import ffi as _ffi

ffi: Any = _ffi
VERSION = "0.2.0"
_BESIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libholdfast-c.so")
_SYSTEM = "libholdfast-c.so." + VERSION.rpartition(".")[0]


def _loaded() -> Any:
    path = os.environ.get("HOLDFAST_C_LIBRARY") or (_BESIDE if os.path.exists(_BESIDE) else _SYSTEM)
    try:
        library = ffi.dlopen(path, os.RTLD_NOW | os.RTLD_NODELETE)  # a thread may still be in it when the interpreter ends
    except OSError as problem:
        raise ImportError(f"holdfast: the library {path} cannot be loaded: {problem}", name="holdfast", path=path) from None
    found = ffi.string(library.hf_version()).decode()
    if found.rpartition(".")[0] != VERSION.rpartition(".")[0]:
        raise ImportError(f"holdfast: the library {path} is of version {found}, and this package needs {VERSION}",
                          name="holdfast", path=path)
    return library


lib: Any = _loaded()


def text_of(text: Any) -> str:
    """Names may hold any bytes."""
    return str(ffi.string(text).decode("utf-8", "surrogateescape"))


def taken_text(cell: Any) -> str:
    """Of a char ** that a call has filled."""
    try:
        return text_of(cell[0])
    finally:
        lib.hf_text_free(cell[0])


_HOLD = ffi.typeof("hf_hold **")
_clear = lib.hf_hold_clear


def hold_cell() -> Any:
    """Where a hold comes to. It exists before the hold does, and is freed without a line of Python, so that whatever
    interrupts a program, the lock is given back (in the background)."""
    return ffi.gc(ffi.new(_HOLD), _clear)


def new_queue() -> Any:
    """An hf_queue that ends with its last reference. Then what is under way ends, and what it was granted is given back."""
    cell = ffi.new("hf_queue **")
    if lib.hf_queue_new(cell):
        raise MemoryError("no descriptor for a queue")
    return ffi.gc(cell[0], lib.hf_queue_free)
