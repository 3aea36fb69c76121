"""What a run tells while it is at work, and how it is stopped."""

from __future__ import annotations

import json
import sys
from typing import Any, Callable, Sequence

from . import _declarations as declarations

Callback = Callable[[dict[str, Any]], Any]


class Listener:
    """Hears the events of a run. An exception in a callback, Ctrl-C among them, ends the run after its iteration and is
    raised once the run has ended."""

    def __init__(self, callbacks: Sequence[Callback], verbose: int) -> None:
        self.events: list[dict[str, Any]] = []
        self.plan: dict[str, Any] = {}
        self.end: dict[str, Any] = {}
        self.error: BaseException | None = None
        self._callbacks = list(callbacks)
        if verbose:
            self._callbacks.append(_shower())
        self.function = declarations.Progress(self._hear)

    def _hear(self, _user: Any, text: bytes | None) -> int:
        try:
            return int(text is not None and self._take(json.loads(text.decode())))
        except BaseException as error:  # nothing may leave a callback of C
            self.error = error
            return 1

    def _take(self, event: dict[str, Any]) -> bool:
        kind = event["event"]
        if kind == "start":
            self.plan = event
        elif kind == "end":
            self.end = event
        else:
            self.events.append({name: value for name, value in event.items() if name != "event"})
        return any([bool(callback(event)) for callback in self._callbacks]) and kind != "end"

    def raise_error(self) -> None:
        if self.error is not None:
            raise self.error


def _shower() -> Callback:
    """tqdm where it is installed, plain lines else."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _show_line
    return _Bar(tqdm)


class _Bar:
    def __init__(self, tqdm: Any) -> None:
        self._tqdm = tqdm
        self._bar: Any = None

    def __call__(self, event: dict[str, Any]) -> None:
        if event["event"] == "start":
            self._bar = self._tqdm(total=event["iterations"], unit="it")
        elif event["event"] == "progress":
            self._bar.update(event["iteration"] - self._bar.n)
            if event["train_loss"] is not None:
                self._bar.set_postfix(loss=f"{event['train_loss']:.4g}")
        elif event["event"] == "end":
            self._bar.close()


def _show_line(event: dict[str, Any]) -> None:
    if event["event"] == "progress" and event["train_loss"] is not None:
        print(f"iteration {event['iteration']}: training loss {event['train_loss']:.4g}", file=sys.stderr)
    elif event["event"] == "validation":
        print(f"iteration {event['iteration']}: validation loss {event['validation_loss']:.4g}", file=sys.stderr)
