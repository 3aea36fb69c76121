"""How good answers are: those of a model beside the truth, and what each of them weighs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays import Array, Inputs, array_of, numbers, refuse, unequal_lists

if TYPE_CHECKING:
    from ._estimator import Estimator


def judged(model: Estimator, X: Any, y: Any, sample_weight: Any, width: int) -> tuple[Array, Array, Array]:
    """Answers and truth [targets, width], and the weight of each target."""
    flat, inputs = model._predictions(X)
    answers = model._shaped(model._answers(flat), inputs)
    parts, truth = (answers, list(unequal_lists(y))) if isinstance(answers, list) else ([answers], [y])
    truth = [array_of(each, model._speaker, "y") for each in truth]
    if [_without_last_one(part) for part in parts] != [_without_last_one(each) for each in truth]:
        raise refuse(model._speaker, f"y must have the shape of the answers, {_shapes(parts)}, got {_shapes(truth)}")
    guess, right = (np.concatenate([np.asarray(each).reshape(-1, width) for each in side]) for side in (parts, truth))
    return guess, right, _weights(model, sample_weight, inputs, len(guess))


def _weights(model: Estimator, weight: Any, inputs: Inputs, count: int) -> Array:
    """As for fit: of each step or each sequence; where a sequence has one target, a number for each."""
    if weight is None:
        return np.ones(count)
    if model._one_target:
        flat = numbers(weight, model._speaker, "sample_weight")
        if flat.shape != (count,):
            raise refuse(model._speaker, f"sample_weight must have {count} numbers for {count} sequences, got shape "
                         f"{flat.shape}")
    else:
        flat = np.concatenate(model._read_weights(unequal_lists(weight), inputs))
    if (flat < 0).any() or not flat.any():
        raise refuse(model._speaker, "sample_weight must be at least 0, and above 0 somewhere")
    return flat.astype(np.float64)


def _without_last_one(array: Any) -> tuple[int, ...]:
    """A column of targets is as good as a row of them."""
    shape: tuple[int, ...] = np.shape(array)
    return shape[:-1] if len(shape) > 1 and shape[-1] == 1 else shape


def _shapes(parts: list[Array]) -> str:
    return ", ".join(str(np.shape(part)) for part in parts[:5])
