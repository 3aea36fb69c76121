"""What a run tells while it is at work, and how it is stopped."""

from __future__ import annotations

import json
import signal
import sys
import threading
from typing import Any, Callable, Sequence

from . import _declarations as declarations
from ._arrays import refuse

Callback = Callable[[dict[str, Any]], Any]


class Listener:
    """Hears the events of a run. An exception in a callback, or Ctrl-C, ends the run after its iteration and is raised once
    the run has ended. The run goes inside of `with listener:`."""

    def __init__(self, callbacks: Sequence[Callback], verbose: int, begin: Callback = lambda plan: None) -> None:
        """`begin` hears the plan of the run before anybody else."""
        self.events: list[dict[str, Any]] = []
        self._begin = begin
        self.end: dict[str, Any] = {}
        self.error: BaseException | None = None
        if not isinstance(callbacks, (list, tuple)) or not all(callable(each) for each in callbacks):
            raise refuse("callbacks", f"they must be a list of functions, got {callbacks!r}")
        self._callbacks = list(callbacks)
        self._shower = _shower() if verbose else None
        if self._shower is not None:
            self._callbacks.append(self._shower)
        self.function = declarations.Progress(self._hear)
        self._handler: Any = None

    def __enter__(self) -> Listener:
        """What a handler of Ctrl-C raises would be lost where the interpreter has just begun a callback of C: keep it."""
        if threading.current_thread() is threading.main_thread() and callable(signal.getsignal(signal.SIGINT)):
            self._handler = signal.signal(signal.SIGINT, self._interrupt)
        return self

    def __exit__(self, *_: Any) -> None:
        if self._shower is not None:
            self._shower.close()  # also of a run that failed
        if self._handler is not None:
            signal.signal(signal.SIGINT, self._handler)

    def _interrupt(self, number: int, frame: Any) -> None:
        try:
            self._handler(number, frame)
        except BaseException as error:
            self.error = self.error or error

    def _hear(self, _user: Any, text: bytes | None) -> int:
        try:
            stop = text is not None and self._take(json.loads(text.decode()))
        except BaseException as error:  # nothing may leave a callback of C
            self.error = self.error or error
        return int(self.error is not None or stop)

    def _take(self, event: dict[str, Any]) -> bool:
        kind = event["event"]
        if kind == "start":
            self._begin(event)
        elif kind == "end":
            self.end = event
        else:
            self.events.append({name: value for name, value in event.items() if name != "event"})
        return any([bool(callback(event)) for callback in self._callbacks]) and kind != "end"

    def raise_error(self) -> None:
        if self.error is not None:
            raise self.error


def _shower() -> _Bar | _Lines:
    """tqdm where it is installed, plain lines else."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Lines()
    return _Bar(tqdm)


class _Bar:
    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None

    def __call__(self, event: dict[str, Any]) -> None:
        if event["event"] == "start":
            self._bar = self._tqdm(total=event["iterations"], unit="it")
        elif event["event"] == "progress":
            if event["train_loss"] is not None:
                self._bar.set_postfix(loss=f"{event['train_loss']:.4g}", refresh=False)  # the bar knows when it is time
            self._bar.update(event["iteration"] - self._bar.n)

    def close(self) -> None:
        """However the run ended: one that failed tells of no end."""
        if self._bar is not None:
            self._bar.close()


class _Lines:
    def __call__(self, event: dict[str, Any]) -> None:
        if event["event"] == "progress" and event["train_loss"] is not None:
            print(f"iteration {event['iteration']}: training loss {event['train_loss']:.4g}", file=sys.stderr)
        elif event["event"] == "validation":
            print(f"iteration {event['iteration']}: validation loss {event['validation_loss']:.4g}", file=sys.stderr)

    def close(self) -> None:
        pass
