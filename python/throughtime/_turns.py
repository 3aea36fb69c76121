"""Calls on one object wait for their turn, whichever threads they come from."""

from __future__ import annotations

import functools
import threading
from typing import Any, Callable, TypeVar, cast

_making = threading.Lock()
_Method = TypeVar("_Method", bound=Callable[..., Any])


class Turns:
    """Has a lock that is no attribute: neither pickles nor scikit-learn, which looks at those, see it. The thread that has
    the turn may call again, from a callback."""

    __slots__ = ("_lock",)
    _lock: Any

    def _turn(self) -> Any:
        try:
            return self._lock
        except AttributeError:
            with _making:  # two threads may both be the first one
                if not hasattr(self, "_lock"):
                    self._lock = threading.RLock()
            return self._lock


def in_turn(method: _Method) -> _Method:
    @functools.wraps(method)
    def waits(self: Any, *arguments: Any, **named: Any) -> Any:
        with self._turn():
            return method(self, *arguments, **named)

    return cast(_Method, waits)
