"""Pictures with matplotlib, which is imported only here, when one is drawn."""

from __future__ import annotations

from typing import Any, Mapping

import numpy as np

Curve = tuple[Any, Any]  # positions and values, arrays of the same length

_FEW = 20  # points that are marked one by one: a line through a single one would not be seen
_WIDE = 30.0  # a largest value so many times the smallest is drawn on a logarithmic scale
_UNSEEN = 1e-4  # shares of a gradient that nobody looks for
_BIAS = 0.1  # the bias that `truncation` asks for where nothing is said


def new_axes(axes: Any) -> Any:
    """Those that are given, else new ones."""
    if axes is not None:
        return axes
    import matplotlib.pyplot as pyplot

    return pyplot.subplots()[1]


def draw_curves(curves: Mapping[str, Curve], position: str, axes: Any = None) -> Any:
    """Each curve by its name over `position`; returns the axes."""
    axes = new_axes(axes)
    for name, (where, values) in curves.items():
        axes.plot(where, values, label=name.replace("_", " "), marker="." if len(values) <= _FEW else None)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel(position)
    axes.set_ylabel(_kind_of(list(curves)))
    if _is_wide([values for _, values in curves.values()]):
        axes.set_yscale("log")
    if curves:
        axes.legend()
    return axes


def _kind_of(names: list[str]) -> str:
    """What all have in common: `loss` of train_loss and validation_loss."""
    kinds = {name.rsplit("_", 1)[-1] for name in names}
    if len(names) == 1:
        return names[0].replace("_", " ")
    return kinds.pop() if len(kinds) == 1 else ""


def _is_wide(parts: list[Any]) -> bool:
    values = np.concatenate(parts) if parts else np.zeros(0)
    values = values[np.isfinite(values)]
    return bool(values.size and values.min() > 0 and values.max() > _WIDE * values.min())


def draw_diagnosis(lengths: Any, phi: Any, bias: Any, truncation: int | None, axes: Any = None) -> Any:
    """The gradient's decay over the lag, and the bias over the truncation, both as shares; returns the axes."""
    axes = new_axes(axes)
    shares = phi / phi[0] if phi.size and phi[0] > 0 else phi
    for values, text in ((shares, "gradient norm at that lag / at lag 0"), (bias, "relative bias of that truncation")):
        seen = np.isfinite(values) & (values > 0)
        axes.semilogy(lengths[seen], values[seen], label=text, marker="." if seen.sum() <= _FEW else None)
    axes.axhline(_BIAS, color="gray", linestyle=":")
    if truncation is not None:
        axes.axvline(truncation, color="gray", linestyle="--", label=f"bias at most {_BIAS:g} from {truncation} steps on")
    worth = lengths[(shares >= _UNSEEN) | (np.isfinite(bias) & (bias >= _UNSEEN))]
    if worth.size and worth[-1] < lengths[-1]:  # both go on falling, out of the picture
        axes.set_xlim(left=0, right=max(float(worth[-1]), 1.0))
        axes.set_ylim(bottom=_UNSEEN)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("steps: lag, or length of the truncation")
    axes.set_ylabel("share")
    axes.legend()
    return axes
