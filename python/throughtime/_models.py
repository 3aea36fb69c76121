"""Regressor and Classifier: what a target and an answer are."""

from __future__ import annotations

import warnings
from typing import Any, Mapping, Sequence

import numpy as np

from ._arrays import Array, as_array, as_row, numbers, refuse
from ._parameters import DOCUMENTATION
from ._progress import Callback
from ._scores import judged
from ._settings import Settings, plain
from ._streams import StreamEstimator


class Regressor(StreamEstimator):
    __doc__ = "Predicts numbers from sequences: arrays (fit, predict) and streams (learn_one, predict_one).\n" + DOCUMENTATION
    _estimator_type = "regressor"
    _river_kind = "Regressor"
    _speaker = "regressor"

    # ------------------------------------------------------------ targets

    def _encode_all(self, parts: list[Array], first: bool) -> list[Array]:
        parts = [numbers(part, self._speaker, "y") for part in parts]
        flat = parts[0].ndim == 1
        outputs = 1 if flat else parts[0].shape[1]
        if any(part.ndim not in (1, 2) or (part.ndim == 1) != flat for part in parts):
            raise refuse(self._speaker, "y must have one number, or a list of them, for each target; got shapes "
                         + ", ".join(str(part.shape) for part in parts[:5]))
        if outputs == 0:
            raise refuse(self._speaker, "y must have at least one number for each target")
        if first:
            self.n_outputs_ = outputs
            self._flat_target = flat
        elif outputs != self.n_outputs_ or any(not flat and part.shape[1] != outputs for part in parts):
            raise refuse(self._speaker, f"a target of the model has {self.n_outputs_} numbers, y has {outputs}")
        return [part.reshape(-1, outputs) for part in parts]

    def _learn_target(self, y: Any) -> None:
        if y is None:
            raise refuse(self._speaker, "the first row needs its target: it says how many numbers a target has")
        y = as_array(y) if hasattr(y, "__dlpack__") else as_row(y)
        self._target_names = list(y) if isinstance(y, Mapping) else None
        self._flat_target = not isinstance(y, Mapping) and np.ndim(y) == 0
        self.n_outputs_ = len(y) if isinstance(y, Mapping) else int(np.size(y))

    def _put_target(self, y: Any) -> tuple[int | None, int]:
        if y is None:
            return None, -1
        buffer = self._buffers.y
        if isinstance(y, float):
            if buffer.width != 1:
                raise refuse(self._speaker, f"a target has {buffer.width} numbers, got {y!r}")
            buffer.numbers[0] = y
            return buffer.address, -1
        names = getattr(self, "_target_names", None)
        if names is not None:
            y = as_row(y)
        if isinstance(y, Mapping):
            if names is None:
                raise refuse(self._speaker, f"targets have no names here, got {list(y)}")
            if set(y) != set(names):
                raise refuse(self._speaker, f"a target must have the names {names}, got {list(y)}")
            y = [y[name] for name in names]
        elif hasattr(y, "__dlpack__"):
            y = as_array(y)
        if np.size(y) != buffer.width:
            raise refuse(self._speaker, f"a target has {buffer.width} numbers, got {np.size(y)}")
        self._fill(buffer, y, "a target must hold numbers")
        return buffer.address, -1

    def _check_target_names(self, names: list[str] | None) -> None:
        known = getattr(self, "_target_names", None)
        if names is not None and known is not None and names != known:
            raise refuse(self._speaker, f"y must have the columns {known} in that order, got {names}")

    def _answer(self) -> Any:
        if self._flat_target:
            return self._buffers.answers[0]
        answer: Array = self._buffers.answer
        names = getattr(self, "_target_names", None)
        return dict(zip(names, answer.tolist())) if names else answer.copy()

    def _answers(self, flat: Array) -> Any:
        return flat[:, 0] if self._flat_target else flat

    def _rows_of_head(self) -> None:
        """The rows of a module's head are those of the model."""

    # ------------------------------------------------------------ answers

    def predict_one(self, x: Any, stream: Any = None) -> Any:
        """The prediction for the next row of a stream; changes nothing. 0.0 before anything was learned."""
        with self._turn():
            return self._answer() if self._look(x, stream) else 0.0

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R squared: 1 is perfect, 0 what the mean of y has."""
        self._require_fitted()
        guess, truth, weight = judged(self, X, y, sample_weight, self.n_outputs_)
        truth = numbers(truth, self._speaker, "y").astype(np.float64)
        mean = np.average(truth, axis=0, weights=weight)
        errors = np.average((truth - guess) ** 2, axis=0, weights=weight)
        spread = np.average((truth - mean) ** 2, axis=0, weights=weight)
        with np.errstate(divide="ignore", invalid="ignore"):
            r2 = np.where(spread > 0, 1 - errors / spread, np.where(errors > 0, 0.0, 1.0))
        return float(r2.mean())

    def _more_tags(self) -> dict[str, Any]:
        return {**_tags(), "multioutput": True}

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import RegressorTags, Tags, TargetTags

        tags = Tags(estimator_type="regressor", target_tags=TargetTags(required=True, multi_output=True),
                    regressor_tags=RegressorTags(poor_score=True), non_deterministic=False)
        tags.input_tags.three_d_array = True
        return tags


class Classifier(StreamEstimator):
    __doc__ = ("Predicts classes from sequences: arrays (fit, predict) and streams (learn_one, predict_one).\n"
               + DOCUMENTATION + "    classes: all labels there are; a stream must be told, fit finds them in y\n")
    _estimator_type = "classifier"
    _river_kind = "Classifier"
    _speaker = "classifier"
    _labels = True

    def __init__(self, cell: str | Sequence[str] = "lstm", hidden: int | Sequence[int] = 32, layers: int = 1,
                 learner: Settings | None = None, optimizer: Settings | None = None, epochs: float = 10, batch: int = 16,
                 window: int = 100, patience: int = 0, keep_best: bool = True, targets: str = "auto",
                 standardise: bool = False, dropout: float = 0.0, vocabulary: int = 0, streams: int = 1, seed: int = 1,
                 engine: str = "cpu", threads: int = 0, options: Mapping[str, Any] | None = None,
                 weights: Mapping[str, Any] | None = None, classes: Sequence[Any] | None = None) -> None:
        super().__init__(cell=cell, hidden=hidden, layers=layers, learner=learner, optimizer=optimizer, epochs=epochs,
                         batch=batch, window=window, patience=patience, keep_best=keep_best, targets=targets,
                         standardise=standardise, dropout=dropout, vocabulary=vocabulary, streams=streams, seed=seed,
                         engine=engine, threads=threads, options=options, weights=weights)
        self.classes = classes

    # ------------------------------------------------------------ targets

    def _take_classes(self, labels: Any) -> None:
        self.classes_, _ = sorted_labels(labels if self.classes is None else self.classes)
        self.n_outputs_ = max(2, len(self.classes_))
        self._numbers = {label: i for i, label in enumerate(self.classes_.tolist())}

    def _rows_of_head(self) -> Array | None:
        """Of each of `classes_` the row that it has in a module's head: its place in the parameter `classes`. None: the
        rows are in the order of `classes_`."""
        if self.classes is None:
            return None
        labels, rows = sorted_labels(self.classes)
        if labels.tolist() != self.classes_.tolist():
            raise refuse(self._speaker, f"classes was changed to {labels[:20].tolist()}, the weights are for "
                         f"{self.classes_[:20].tolist()}; fit begins anew")
        return None if (np.diff(rows) > 0).all() else rows

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None, *, sample_weight: Any = None,
                    callbacks: Sequence[Callback] = (), verbose: int = 0) -> Any:
        """One pass over X from the weights as they are; the first time with all `classes` there are."""
        if classes is not None:
            given = np.unique(np.asarray(classes)).tolist()
            if self._is_fitted() and given != self.classes_.tolist():
                raise refuse(self._speaker, f"classes={given} is not the same as on the last call, {self.classes_.tolist()}")
            if not self._is_fitted():
                self._take_classes(classes)
        return super().partial_fit(X, y, sample_weight=sample_weight, callbacks=callbacks, verbose=verbose)

    def _encode_all(self, parts: list[Array], first: bool) -> list[Array]:
        parts = [_column(part) for part in parts]
        if any(part.ndim != 1 for part in parts):
            raise refuse(self._speaker, "y must have one label for each target; got shapes "
                         + ", ".join(str(part.shape) for part in parts[:5]))
        labels = np.concatenate(parts)
        if labels.dtype.kind == "f":
            if not np.isfinite(labels).all():
                raise refuse(self._speaker, "y must be labels: it holds NaN or infinity")
            if (labels != np.floor(labels)).any():
                raise refuse(self._speaker, "Unknown label type: y holds numbers that are no labels; use a Regressor")
        if first and not hasattr(self, "classes_"):
            self._take_classes(labels)
            if len(self.classes_) < 2 and self.classes is None:
                raise refuse(self._speaker, "y must have at least two classes, got one class")
        self._check_kind(labels)
        try:
            places = np.searchsorted(self.classes_, labels)
        except TypeError as error:
            raise refuse(self._speaker, f"labels must be of one kind, all texts or all numbers: {error}") from error
        places[places == len(self.classes_)] = 0
        wrong = self.classes_[places] != labels
        if wrong.any():
            raise self._unknown(labels[wrong][0])
        return [np.ascontiguousarray(part, dtype=np.int32)
                for part in np.split(places, np.cumsum([len(part) for part in parts])[:-1])]

    def _check_kind(self, labels: Array) -> None:
        """Texts are never labels of a model that knows numbers, and the other way round."""
        kinds = labels.dtype.kind, self.classes_.dtype.kind
        if "O" not in kinds and (kinds[0] in "US") != (kinds[1] in "US"):
            raise self._unknown(labels[0])

    def _unknown(self, label: Any) -> ValueError:
        return refuse(self._speaker, f"y holds the label {plain(label)!r}; known: {self.classes_[:20].tolist()}")

    def _learn_target(self, y: Any) -> None:
        if self.classes is None:
            raise refuse(self._speaker, "a stream must know its classes before the first row: Classifier(classes=[...])")
        self._take_classes(self.classes)

    def _put_target(self, y: Any) -> tuple[int | None, int]:
        if y is None:
            return None, -1
        try:
            number = self._numbers.get(y.item() if isinstance(y, np.generic) else y)
        except TypeError:  # nothing that can be a label, such as a list
            number = None
        if number is None and hasattr(y, "__dlpack__") and np.ndim(y) == 0:  # a tensor
            number = self._numbers.get(as_array(y).item())
        if number is None:
            raise refuse(self._speaker, f"there is no label {y!r}; known: {list(self._numbers)[:20]}")
        return None, number

    def _answer(self) -> Any:
        return self.classes_.tolist()[int(np.argmax(self._buffers.answer[:len(self.classes_)]))]

    def _answers(self, flat: Array) -> Any:
        return self.classes_[np.argmax(flat[:, :len(self.classes_)], axis=1)]

    # ------------------------------------------------------------ answers

    def predict_proba(self, X: Any) -> Any:
        """The probability of each of `classes_`, for each step or sequence."""
        flat, inputs = self._predictions(X)
        return self._shaped(self._shares(flat), inputs)

    def _shares(self, flat: Array) -> Array:
        known = flat[:, :len(self.classes_)]
        return known / known.sum(axis=1, keepdims=True)

    def predict_one(self, x: Any, stream: Any = None) -> Any:
        """The most probable class of the next row of a stream; changes nothing. None before anything was learned."""
        with self._turn():
            return self._answer() if self._look(x, stream) else None

    def predict_proba_one(self, x: Any, stream: Any = None) -> dict[Any, float]:
        """The probability of each class; empty before anything was learned."""
        with self._turn():
            if not self._look(x, stream):
                return {}
            return dict(zip(self.classes_.tolist(), self._shares(self._buffers.answer[None])[0].tolist()))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of right answers."""
        guess, truth, weight = judged(self, X, y, sample_weight, 1)
        self._check_kind(truth[:, 0])
        return float(np.average((guess == truth)[:, 0], weights=weight))

    def _more_tags(self) -> dict[str, Any]:
        return _tags()

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, Tags, TargetTags

        tags = Tags(estimator_type="classifier", target_tags=TargetTags(required=True),
                    classifier_tags=ClassifierTags(poor_score=True), non_deterministic=False)
        tags.input_tags.three_d_array = True
        return tags


def sorted_labels(labels: Any) -> tuple[Array, Array]:
    """The labels there are, in ascending order, and of each the place where it is listed first."""
    try:
        found, places = np.unique(np.asarray(labels), return_index=True)
    except (TypeError, ValueError) as error:
        raise refuse(Classifier._speaker, f"labels must be of one kind, all texts or all numbers: {error}") from error
    return found, places


def _column(part: Array) -> Array:
    """[n, 1] is [n], as elsewhere with a warning."""
    if part.ndim == 2 and part.shape[1] == 1:
        category: type[Warning] = UserWarning
        try:
            from sklearn.exceptions import DataConversionWarning as category  # type: ignore[no-redef]
        except ImportError:
            pass
        warnings.warn("A column-vector y was passed when a 1d array was expected", category, stacklevel=2)
        return part.ravel()
    return part


def _tags() -> dict[str, Any]:
    """What scikit-learn's own checks should know."""
    return {"requires_y": True, "X_types": ["2darray", "3darray"], "poor_score": True}
