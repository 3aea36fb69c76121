"""The shared library: where it is, how its errors become exceptions."""

from __future__ import annotations

import ctypes
import os
import pathlib
import sys
from typing import Any, Callable

from . import _declarations as declarations

_HERE = pathlib.Path(__file__).resolve().parent
_NAME = "libthroughtime_c.so"
_loaded: ctypes.CDLL | None = None


def _places() -> list[pathlib.Path]:
    named = os.environ.get("THROUGHTIME_LIBRARY")
    if named:
        return [pathlib.Path(named)]
    built = _HERE.parent.parent / "build"
    # Installed; or in a clone, where scripts/build or pip left it.
    return [_HERE / _NAME, built / "release" / _NAME, built / "wheel" / _NAME]


def library() -> ctypes.CDLL:
    """The library, loaded at the first call."""
    global _loaded
    if _loaded is None:
        for place in _places():
            if place.exists():
                loaded = ctypes.CDLL(str(place))
                declarations.declare(loaded)
                _loaded = loaded
                break
        else:
            places = " or ".join(str(place) for place in _places())
            raise ImportError(f"[throughtime] there is no {places}; build it with scripts/build release throughtime_c")
    return _loaded


def check(status: int) -> None:
    """Raises what a call's status stands for, with the library's line."""
    if status == declarations.TT_OK:
        return
    line = library().tt_last_error().decode("utf-8", "replace")
    if status in (declarations.TT_INVALID, declarations.TT_HANDLE):
        raise ValueError(line)
    if status == declarations.TT_MEMORY:
        raise MemoryError(line)
    raise RuntimeError(line)


def path_of(path: Any, speaker: str, what: str = "the path") -> bytes:
    """A path as C reads it: what is none, or would end in its middle there, is refused."""
    try:
        name = os.fsencode(os.fspath(path))
    except TypeError:
        name = b""
    if not name or b"\0" in name:
        raise ValueError(f"[{speaker}] {what} must name a file or a folder, got {path!r}")
    return name


def text(function: Callable[..., int], *arguments: Any, room: int = 1 << 16) -> str:
    """What a call writes into (text, capacity, length), its last arguments."""
    while True:
        buffer = ctypes.create_string_buffer(room)
        length = ctypes.c_size_t()
        check(function(*arguments, ctypes.addressof(buffer), room, ctypes.byref(length)))
        if length.value < room:
            return buffer.value.decode("utf-8")
        room = length.value + 1


class Handle:
    """A handle of the library, which ends with this object."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __reduce__(self) -> Any:
        """A number of this process: another object with it would end what this one stands for."""
        raise TypeError("[throughtime] models, engines and windows of own methods cannot be pickled or copied: keep their "
                        "numbers, such as engine.parameters.value")

    def __del__(self) -> None:
        if _loaded is not None and not sys.is_finalizing():
            _loaded.tt_free(self.number)


def new_handle(function: Callable[..., int], *arguments: Any) -> Handle:
    number = ctypes.c_int64()
    check(function(*arguments, ctypes.byref(number)))
    return Handle(number.value)


def version() -> str:
    return str(library().tt_version().decode())
