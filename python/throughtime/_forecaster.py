"""Forecaster: a series that is learned row by row and goes on from its own answers."""

from __future__ import annotations

import operator
from typing import Any, Mapping, Sequence

import numpy as np

from ._arrays import Array, refuse
from ._models import Regressor


class Forecaster:
    """Forecasts a series row by row, by river's conventions: learn_one(y, x), forecast(horizon, xs).

    It learns to say the next value from the last one (and x beside it); forecasts go on from their own answers. The
    parameters are those of Regressor; `standardise` is True unless told otherwise.
    """

    def __init__(self, standardise: bool = True, **parameters: Any) -> None:
        self.model = Regressor(standardise=standardise, **parameters)
        self._last: Array | None = None  # the row before: its value, and x beside it
        self._names: list[Any] | None = None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return self.model.get_params(deep)

    def set_params(self, **params: Any) -> Forecaster:
        self.model.set_params(**params)
        return self

    def _row(self, y: Any, x: Any) -> Array:
        if isinstance(x, Mapping):
            if self._names is None:
                self._names = list(x)
            if set(x) != set(self._names):
                raise refuse("forecaster", f"x must have the names {self._names}, got {list(x)}")
            x = [x[name] for name in self._names]
        if np.ndim(y) != 0:
            raise refuse("forecaster", f"a row must hold numbers, got {y!r} and {x!r}")
        try:
            row = np.array([y, *([] if x is None else np.atleast_1d(np.asarray(x)))], dtype=np.float32)
        except (TypeError, ValueError) as error:
            raise refuse("forecaster", f"a row must hold numbers, got {y!r} and {x!r}") from error
        if self._last is not None and len(row) != len(self._last):
            raise refuse("forecaster", f"x must have {len(self._last) - 1} numbers, got {len(row) - 1}")
        if not np.isfinite(row).all():
            raise refuse("forecaster", f"a row must hold finite numbers, got {y!r} and {x!r}")
        return row

    def learn_one(self, y: float, x: Any = None) -> Forecaster:
        """Learns that y follows the row before."""
        row = self._row(y, x)
        if self._last is not None:
            self.model.learn_one(self._last, float(row[0]))
        self._last = row
        return self

    def forecast(self, horizon: int, xs: Sequence[Any] | None = None) -> list[float]:
        """The next `horizon` values. Where rows have x, `xs` holds those of the values, but for the last."""
        if self._last is None:
            raise refuse("forecaster", "there is nothing to go on from: call learn_one first")
        try:
            horizon = operator.index(horizon)
        except TypeError as error:
            raise refuse("forecaster", f"horizon must be a whole number, got {horizon!r}") from error
        if horizon < 1:
            raise refuse("forecaster", f"horizon must be at least 1, got {horizon}")
        rows = self._rows_ahead(self._last, horizon, [] if xs is None else xs)
        if not self.model._is_fitted():
            return [float(self._last[0])] * horizon
        return [float(value) for value in self.model._forecast(rows)[:, 0]]

    def _rows_ahead(self, last: Array, horizon: int, xs: Sequence[Any]) -> Array:
        """The last row, then those whose values are not known yet: 0 stands for them."""
        width = len(last)
        if width > 1 and len(xs) < horizon - 1:
            raise refuse("forecaster", f"xs must have {horizon - 1} rows for a horizon of {horizon}, got {len(xs)}")
        if width == 1 and len(xs) > 0:
            raise refuse("forecaster", "xs is for rows that have x beside their value; these have none")
        rows = np.zeros((horizon, width), dtype=np.float32)
        rows[0] = last
        for step in range(1, horizon if width > 1 else 1):
            rows[step] = self._row(0.0, xs[step - 1])
        return rows

    def reset(self) -> Forecaster:
        """The series ends: the next value begins another one, from the zero state. The weights stay."""
        self.model.reset()
        self._last = None
        return self

    def __repr__(self) -> str:
        return self.model._text("Forecaster", standardise=True)
