"""Calls on one object wait for their turn, whichever threads they come from."""

from __future__ import annotations

import functools
import os
import threading
import weakref
from typing import Any, Callable, TypeVar, cast

_making = threading.Lock()
_with_locks: weakref.WeakSet[Turns] = weakref.WeakSet()
_Method = TypeVar("_Method", bound=Callable[..., Any])


class Turns:
    """Has a lock that is no attribute: neither pickles nor scikit-learn, which looks at those, see it. The thread that has
    the turn may call again, from a callback."""

    __slots__ = ("_lock", "__weakref__")
    _lock: Any

    def _turn(self) -> Any:
        try:
            return self._lock
        except AttributeError:
            with _making:  # two threads may both be the first one
                if not hasattr(self, "_lock"):
                    self._lock = threading.RLock()
                    _with_locks.add(self)
            return self._lock


def _begin_anew() -> None:
    """In a process that was forked: whoever had a turn is not there and would never give it back."""
    global _making
    _making = threading.Lock()
    for each in _with_locks:
        each._lock = threading.RLock()


os.register_at_fork(after_in_child=_begin_anew)


def in_turn(method: _Method) -> _Method:
    @functools.wraps(method)
    def waits(self: Any, *arguments: Any, **named: Any) -> Any:
        with self._turn():
            return method(self, *arguments, **named)

    return cast(_Method, waits)
