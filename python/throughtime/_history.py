"""What a fit, or a run of the command, wrote down."""

from __future__ import annotations

from typing import Any, Iterator

import numpy as np

from ._plots import draw_curves


class History:
    """Numbers over the iterations of a training: `history["train_loss"]` is an array, as long as `history.iterations`,
    NaN where a line has no such number. `history.names` lists what there is."""

    def __init__(self, events: list[dict[str, Any]], position: str = "iteration") -> None:
        self.events = events
        self.position = position

    @property
    def names(self) -> list[str]:
        found: dict[str, None] = {}
        for event in self.events:
            for name, value in event.items():
                if name != self.position and (value is None or isinstance(value, (int, float))):
                    found.setdefault(name)
        return list(found)

    @property
    def iterations(self) -> Any:
        return np.array([event.get(self.position, 0) for event in self.events], dtype=np.int64)

    def __getitem__(self, name: str) -> Any:
        if name not in self.names:
            raise KeyError(f"{name}; known: {', '.join(self.names)}")
        values = [event.get(name) for event in self.events]
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.events)

    def curve(self, name: str) -> tuple[Any, Any]:
        """The iterations that have that number, and the numbers."""
        values = self[name]
        known = ~np.isnan(values)
        return self.iterations[known], values[known]

    def plot(self, *names: str, axes: Any = None) -> Any:
        """Draws curves with matplotlib, the losses where none are named; returns the axes."""
        shown = names or [name for name in self.names if name.endswith("loss")]
        return draw_curves({name: self.curve(name) for name in shown}, self.position, axes)

    def __repr__(self) -> str:
        return f"History({len(self)} lines: {', '.join(self.names)})"

    def _repr_html_(self) -> str:
        rows = [f"<tr><td>{name}</td><td>{self.curve(name)[1][-1]:.4g}</td></tr>"
                for name in self.names if self.curve(name)[1].size]
        return f"<table><tr><th>{len(self)} lines</th><th>last</th></tr>{''.join(rows)}</table>"
