"""Forecaster: a series that is learned row by row and goes on from its own answers."""

from __future__ import annotations

from typing import Any, Iterable, Mapping, Sequence

import numpy as np

from ._arrays import Array, refuse, whole
from ._models import Regressor

_LONGEST = 1_000_000  # forecast


class Forecaster:
    """Forecasts a series row by row, by river's conventions: learn_one(y, x), forecast(horizon, xs).

    It learns to say the next value from the last one (and x beside it); forecasts go on from their own answers. The
    parameters are those of Regressor; `standardise` is True unless told otherwise. `ignore` lists the names in x that are
    left out, such as a date, which is no number.
    """

    def __init__(self, standardise: bool = True, ignore: Sequence[Any] = (), **parameters: Any) -> None:
        self.model = Regressor(standardise=standardise, **parameters)
        self.ignore = _checked_names(ignore)
        self._last: Array | None = None  # the row before: its value, and x beside it
        self._names: list[Any] | None = None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {**self.model.get_params(deep), "ignore": self.ignore}

    def set_params(self, **params: Any) -> Forecaster:
        ignore = _checked_names(params.pop("ignore", self.ignore))
        self.model.set_params(**params)
        self.ignore = ignore
        return self

    def _beside(self, x: Any) -> tuple[list[float], list[Any] | None]:
        """The numbers of x, and the names that they have in this series."""
        if x is None:
            return [], self._names
        if not isinstance(x, Mapping):
            array = np.atleast_1d(np.asarray(x))
            if array.ndim != 1:
                raise TypeError("x is no row")
            return [_number(value) for value in array.tolist()], self._names
        given = [name for name in x if name not in self.ignore]
        names = self._names
        if names is None:  # columns without names are called by their numbers
            names = given if self._last is None else list(range(len(self._last) - 1))
        if set(given) != set(names):
            raise refuse("forecaster", f"x must have the names {names}, got {given}")
        return [self._named_number(name, x[name]) for name in names], names

    def _named_number(self, name: Any, value: Any) -> float:
        try:
            return _number(value)
        except (TypeError, ValueError):
            raise refuse("forecaster", f"x[{name!r}] must be a number, got {value!r}; make numbers of it, or leave it out: "
                         f"Forecaster(ignore=[{name!r}])") from None

    def _width(self) -> int | None:
        """Numbers of a row, once that is known."""
        if self._last is not None:
            return len(self._last)
        return self.model.n_features_in_ if self.model._is_fitted() else None

    def _row(self, y: Any, x: Any) -> tuple[Array, list[Any] | None]:
        try:
            beside, names = self._beside(x)
            with np.errstate(over="ignore"):
                row = np.array([_number(y), *beside], dtype=np.float32)
        except (TypeError, OverflowError) as error:
            raise refuse("forecaster", f"a row must hold numbers, got {y!r} and {x!r}") from error
        width = self._width()
        if width is not None and len(row) != width:
            raise refuse("forecaster", f"x must have {width - 1} numbers, got {len(row) - 1}")
        if not np.isfinite(row).all():
            raise refuse("forecaster", f"a row must hold finite numbers, got {y!r} and {x!r}")
        return row, names

    def learn_one(self, y: float, x: Any = None) -> Forecaster:
        """Learns that y follows the row before."""
        row, names = self._row(y, x)
        if self._last is not None:
            self.model.learn_one(self._last, float(row[0]))
        self._last, self._names = row, names
        return self

    def forecast(self, horizon: int, xs: Iterable[Any] | None = None) -> list[float]:
        """The next `horizon` values. Where rows have x, `xs` holds those of the values; the last may be left out, as no
        value comes after it. Where they have none, its entries may only be None or empty."""
        if self._last is None:
            raise refuse("forecaster", "there is nothing to go on from: call learn_one first")
        horizon = whole(horizon, "forecaster", "horizon", 1, _LONGEST)
        rows = self._rows_ahead(self._last, horizon, xs)
        if not self.model._is_fitted():
            return [float(self._last[0])] * horizon
        return [float(value) for value in self.model._forecast(rows)[:, 0]]

    def _rows_ahead(self, last: Array, horizon: int, xs: Iterable[Any] | None) -> Array:
        """The last row, then those whose values are not known yet: 0 stands for them."""
        rows = np.zeros((horizon, len(last)), dtype=np.float32)
        rows[0] = last
        try:
            beside = list(() if xs is None else xs)
        except TypeError:
            raise refuse("forecaster", f"xs must be a list of rows, got {xs!r}") from None
        if len(last) == 1 and not beside:
            return rows
        if not horizon - 1 <= len(beside) <= horizon:
            raise refuse("forecaster", f"xs must have {horizon - 1} rows for a horizon of {horizon}, or {horizon}, "
                         f"got {len(beside)}")
        for step, x in enumerate(beside, 1):
            if len(last) == 1 and self._beside_nothing(x):
                continue
            row = self._row(0.0, x)[0]
            if step < horizon:
                rows[step] = row
        return rows

    def _beside_nothing(self, x: Any) -> bool:
        if x is None or isinstance(x, Mapping) and all(name in self.ignore for name in x):
            return True
        raise refuse("forecaster", "xs is for rows that have x beside their value; these have none")

    def reset(self) -> Forecaster:
        """The series ends: the next value begins another one, from the zero state. The weights stay."""
        self.model.reset()
        self._last = None
        return self

    def __repr__(self) -> str:
        text = self.model._text("Forecaster", standardise=True)
        if not self.ignore:
            return text
        return text[:-1] + ("" if text.endswith("()") else ", ") + f"ignore={list(self.ignore)!r})"

    def _repr_html_(self) -> str:
        return self.model._table("Forecaster", {"ignore": self.ignore} if self.ignore else {})


def _checked_names(names: Any) -> Sequence[Any]:
    """As they are: a clone must have what was given."""
    if not isinstance(names, (list, tuple)):
        raise refuse("forecaster", f"ignore must be a list of names, got {names!r}")
    return names


def _number(value: Any) -> float:
    """Neither a text that looks like one, nor a date, of which NumPy would make its days since 1970."""
    if np.ndim(value) != 0 or isinstance(value, (str, bytes, np.datetime64, np.timedelta64)):
        raise TypeError(f"{value!r} is no number")
    return float(value)
