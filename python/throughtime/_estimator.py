"""What regressors and classifiers share beside their parameters: the model, training and predictions."""

from __future__ import annotations

import contextlib
import json
import os
from typing import Any, Iterator, Mapping, Sequence

import numpy as np

from . import _library
from ._arrays import (Array, Data, Inputs, Part, address, array_of, inputs_of, names_array, numbers, refuse,
                      unequal_lists)
from ._history import History
from ._parameters import Parameters
from ._progress import Callback, Listener
from ._turns import in_turn
from ._weights import Weights


# Beside what ends with _, and the model itself, what learning leaves behind.
_LEARNED = ("_model", "_live", "_slots", "_waiting", "_one_target", "_flat_target", "_target_names", "_buffers",
            "_stream_text", "_has_scales", "_made_for", "_numbers", "_names")


class Estimator(Parameters, Weights):
    """What ends with _ is there after learning."""

    n_features_in_: int
    n_outputs_: int
    classes_: Any
    _one_target: bool  # of a sequence, not of a step
    _flat_target: bool  # a number, not a list of them

    # ------------------------------------------------------------ the model

    def _is_fitted(self) -> bool:
        return getattr(self, "_model", None) is not None

    def __sklearn_is_fitted__(self) -> bool:
        return self._is_fitted()

    def _require_fitted(self) -> None:
        if self._is_fitted():
            return
        line = f"[{self._speaker}] This {type(self).__name__} instance is not fitted yet: call fit or learn_one first"
        try:
            from sklearn.exceptions import NotFittedError
        except ImportError:
            raise ValueError(line) from None
        raise NotFittedError(line)

    def _reals(self) -> int:
        """Numbers at each step: a token is none."""
        return 0 if self.vocabulary else self.n_features_in_

    def _make_model(self, options: str) -> None:
        self._check_read(options)
        self._model: Any = _library.new_handle(_library.library().tt_model_new, options.encode(), self._reals(),
                                               self.vocabulary, self.n_outputs_, int(self._labels))
        self._has_scales = bool(self.standardise)
        if self._has_scales:
            _library.check(_library.library().tt_scales_begin(self._model.number))
        self._made_for = self._engine_now()
        self._end_streams()
        if self.weights is not None:
            self.load_state_dict(self.weights)

    def _check_read(self, options: str) -> None:
        """Refuses what the parameter `options` has and nothing would read."""
        if self.options:
            keys = "\n".join(self.options)
            _library.check(_library.library().tt_options_read(options.encode(), keys.encode()))

    def _engine_now(self) -> tuple[Any, Any]:
        return self.engine, self.threads

    def _copy_with(self, options: str) -> _library.Handle:
        """The library's model with other options; the one that is here, and its stream, stay as they are."""
        self._check_read(options)
        copy = _library.new_handle(_library.library().tt_model_copy, self._model.number)
        _library.check(_library.library().tt_model_set_options(copy.number, options.encode()))
        return copy

    def _begin_with_weights(self, features: int, outputs: int, one_target: bool) -> None:
        """Ready for predictions before anything was learned here."""
        self._check_parameters()
        self.n_features_in_, self.n_outputs_ = features, outputs
        self._one_target, self._flat_target = one_target, outputs == 1
        if self._labels:
            self._take_classes(())
            if len(self.classes_) != outputs:
                raise refuse(self._speaker, f"the weights are for {outputs} classes, got {len(self.classes_)}")
        self._make_model(self._stream_options())

    def _take_classes(self, labels: Any) -> None:
        raise NotImplementedError

    def _describe(self) -> dict[str, Any]:
        self._require_fitted()
        result: dict[str, Any] = json.loads(_library.text(_library.library().tt_model_describe, self._model.number))
        return result

    def _learned(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items()
                if name in _LEARNED or name.endswith("_") and not name.startswith("__")}

    def _forget(self) -> None:
        for name in self._learned():
            delattr(self, name)

    @contextlib.contextmanager
    def _all_or_nothing(self, failures: type[BaseException] = BaseException) -> Iterator[None]:
        """What is refused, or fails, inside leaves what was learned as it was."""
        before = self._learned()
        try:
            yield
        except failures:
            self._forget()
            if "_model" in before:
                self.__dict__.update(before)
            raise

    def _check_names(self, names: list[Any] | None) -> None:
        known = list(getattr(self, "feature_names_in_", ()))
        if names is None or not known or known == names:
            return
        unseen = [name for name in names if name not in known]
        missing = [name for name in known if name not in names]
        text = "The feature names should match those that were passed during fit.\n"
        if unseen:
            text += "Feature names unseen at fit time:\n" + "".join(f"- {name}\n" for name in unseen[:5])
        if missing:
            text += "Feature names seen at fit time, yet now missing:\n" + "".join(f"- {name}\n" for name in missing[:5])
        if not unseen and not missing:
            text += "Feature names must be in the same order as they were in fit.\n"
        raise refuse(self._speaker, text)

    def _check_target_names(self, names: list[str] | None) -> None:
        """Of a table of targets; labels have none."""

    def _read_inputs(self, x: Any, first: bool) -> Inputs:
        inputs = inputs_of(x, self._speaker, self.vocabulary)
        features = 1 if self.vocabulary else inputs.sequences[0].shape[1]
        if first:
            self.n_features_in_ = features
            if inputs.names is not None:
                self.feature_names_in_ = names_array(inputs.names)
            return inputs
        self._check_names(inputs.names)
        if features != self.n_features_in_:
            raise refuse(self._speaker, f"X has {features} features, but {type(self).__name__} is expecting "
                         f"{self.n_features_in_} features as input")
        return inputs

    # ------------------------------------------------------------ targets

    def _read_targets(self, y: Any, inputs: Inputs, first: bool) -> list[Array]:
        """For each sequence its targets; decides at the first time what a target is."""
        if y is None:
            raise refuse(self._speaker, "requires y to be passed, but the target y is None")
        steps = [each.shape[0] for each in inputs.sequences]
        count = len(steps)
        if inputs.recording:
            return self._targets_of_recording(y, steps[0], first)
        y = unequal_lists(y)
        if isinstance(y, (list, tuple)) and len(y) == count and all(getattr(each, "ndim", 0) >= 1 for each in y):
            parts = [array_of(each, self._speaker, "y") for each in y]
            per_step = all(part.shape[0] == n for part, n in zip(parts, steps)) and self.targets != "sequence"
        else:
            whole = array_of(y, self._speaker, "y")
            if whole.ndim == 0 or whole.shape[0] != count:
                raise refuse(self._speaker, f"X and y must have as many sequences: inconsistent numbers of samples, "
                             f"{count} and {whole.shape[0] if whole.ndim else 1}")
            equal = inputs.single or len(set(steps)) == 1
            per_step = whole.ndim >= 2 and equal and whole.shape[1] == steps[0] and self.targets != "sequence"
            parts = list(whole)
        if self.targets == "step" and not per_step:
            raise refuse(self._speaker, "y must have a target for each step of X (targets='step')")
        if first:
            self._one_target = not per_step
        elif self._one_target == per_step:
            raise refuse(self._speaker, "the model was made for " + ("one target per sequence" if self._one_target
                         else "a target per step") + ", y has the other")
        parts = [np.asarray(part) if per_step else np.asarray(part)[None] for part in parts]
        widths = sorted({part.shape[1] for part in parts if part.ndim == 2})
        if len(widths) > 1:
            raise refuse(self._speaker, "all targets of y must have as many numbers, got "
                         + ", ".join(map(str, widths[:10])))
        return self._encode_all(parts, first)

    def _targets_of_recording(self, y: Any, steps: int, first: bool) -> list[Array]:
        if self.targets == "sequence" or not first and self._one_target:
            raise refuse(self._speaker, "the model is for one target per sequence, X is one recording; a single sequence "
                         "is X[None], with y of one target")
        self._one_target = False
        target = array_of(y, self._speaker, "y")
        if target.ndim == 0 or target.shape[0] != steps:
            raise refuse(self._speaker, "X and y must have as many steps: inconsistent numbers of samples, "
                         f"{steps} and {target.shape[0] if target.ndim else 1}")
        return self._encode_all([target], first)

    def _encode_all(self, parts: list[Array], first: bool) -> list[Array]:
        raise NotImplementedError

    def _read_weights(self, weight: Any, inputs: Inputs) -> list[Array]:
        if weight is None:
            return []
        steps = [each.shape[0] for each in inputs.sequences]
        each_part = [weight] if inputs.recording else weight if isinstance(weight, (list, tuple)) else list(
            np.atleast_1d(array_of(weight, self._speaker, "sample_weight")))
        parts = [numbers(each, self._speaker, "sample_weight") for each in each_part]
        if len(parts) != len(steps):
            raise refuse(self._speaker, f"sample_weight must have an entry for each of {len(steps)} sequences, got {len(parts)}")
        result = []
        for part, n in zip(parts, steps):
            if part.size == 1:  # of the whole sequence
                part = np.full(n, part.item(), dtype=np.float32)
            if part.shape != (n,):
                raise refuse(self._speaker, f"sample_weight must have {n} numbers for {n} steps, got shape {part.shape}")
            result.append(part)
        return result

    # ------------------------------------------------------------ learning from arrays

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None, validation: Any = None,
            directory: Any = None, callbacks: Sequence[Callback] = (), verbose: int = 0) -> Any:
        """Trains from new weights. X is [steps, features], [sequences, steps, features] or a list of recordings; y has a
        target for each step, or one for each sequence. `validation` is (X, y); `directory` writes a run that the
        command can resume. Where it is refused or fails, the model stays what it was."""
        return self._train(X, y, sample_weight, validation, directory, callbacks, verbose, False)

    def partial_fit(self, X: Any, y: Any = None, *, sample_weight: Any = None,
                    callbacks: Sequence[Callback] = (), verbose: int = 0) -> Any:
        """One pass over X from the weights as they are; the optimizer goes on, too. Where it is refused or fails, the model
        stays what it was."""
        return self._train(X, y, sample_weight, None, None, callbacks, verbose, True)

    def _train(self, X: Any, y: Any, sample_weight: Any, validation: Any, directory: Any,
               callbacks: Sequence[Callback], verbose: int, more: bool) -> Any:
        with self._turn(), self._all_or_nothing():
            self._check_parameters()
            if not more:
                self._check_fit(validation is not None, directory is not None)
                self._forget()
            first = not self._is_fitted()
            inputs = self._read_inputs(X, first)
            parts = [Part(inputs.sequences, self._read_targets(y, inputs, first), self._read_weights(sample_weight, inputs))]
            if validation is not None:
                parts.append(self._validation_part(validation, inputs.recording))
            longest = max(each.shape[0] for each in inputs.sequences)
            options = self._fit_options(longest, inputs.recording, len(inputs.sequences), validation is not None,
                                        1 if more else self.epochs)
            if first:
                self._make_model(options)
            else:
                self._go_on(options)
            listener = Listener(callbacks, verbose, self._take_plan)
            self._run(self._scaled_parts(parts), inputs.recording, directory, listener, more)
        listener.raise_error()
        return self

    def _go_on(self, options: str) -> None:
        """With a copy, which takes the place of the model: until it has learned, that one is as it was, stream and scales
        included."""
        self._check_scales()
        self._model = self._copy_with(options)
        self._made_for = self._engine_now()
        self._end_streams()

    def _validation_part(self, validation: Any, recording: bool) -> Part:
        if not isinstance(validation, (tuple, list)) or len(validation) != 2:
            raise refuse(self._speaker, "validation must be a pair (X, y)")
        inputs = self._read_inputs(validation[0], False)
        if inputs.recording != recording:
            raise refuse(self._speaker, "X and the validation's X must both be one recording, or both be sequences")
        return Part(inputs.sequences, self._read_targets(validation[1], inputs, False), [])

    def _run(self, parts: list[Part], recording: bool, directory: Any, listener: Listener, more: bool) -> None:
        data = self._data(parts, recording)
        folder = None if directory is None else _library.path_of(directory, self._speaker, "directory")
        with listener:
            status = _library.library().tt_model_fit(self._model.number, data.handle.number, folder, int(more),
                                                     int(self.keep_best), listener.function, None)
        _library.check(status)
        self.history_ = History(listener.events)
        self.n_iter_ = listener.end["iteration"]

    def _take_plan(self, plan: Mapping[str, Any]) -> None:
        """What is known before the first step."""
        self.memory_ = plan["activation_bytes"]

    def _data(self, parts: Sequence[Part], recording: bool) -> Data:
        shape = (self._reals(), self.vocabulary, self.n_outputs_, int(self._labels), int(self._one_target), int(recording))
        return Data(shape, parts, self.vocabulary, self._labels)

    # ------------------------------------------------------------ scales

    def _check_scales(self) -> None:
        if bool(self.standardise) != self._has_scales:
            raise refuse(self._speaker, f"standardise was {self._has_scales} when the weights were learned; fit begins anew")

    def _scaled_parts(self, parts: list[Part]) -> list[Part]:
        """Shows the first part to the scales, and all of them to the model."""
        if not self.standardise:
            return parts
        library = _library.library()
        for i, x in enumerate(parts[0].inputs):
            y = None if self._labels else parts[0].targets[i]
            if not self.vocabulary:
                _library.check(library.tt_scales_add(self._model.number, len(x), address(x), None))
            if y is not None:
                _library.check(library.tt_scales_add(self._model.number, len(y), None, address(y)))
        return [self._scaled_part(part) for part in parts]

    def _scaled_part(self, part: Part) -> Part:
        """As the model sees it."""
        if not self.standardise:
            return part
        inputs = part.inputs if self.vocabulary else [self._scaled(x, 0) for x in part.inputs]
        targets = part.targets if self._labels else [self._scaled(y, 1) for y in part.targets]
        return Part(inputs, targets, part.weights)

    def _scaled(self, x: Array, targets: int) -> Array:
        out = np.empty_like(x)
        _library.check(_library.library().tt_scales_apply(self._model.number, len(x), targets, address(x), address(out)))
        return out

    # ------------------------------------------------------------ predictions

    @in_turn
    def _predictions(self, X: Any) -> tuple[Array, Inputs]:
        """[all steps or sequences, outputs], from the zero state; streams are left alone."""
        self._require_fitted()
        self._check_scales()
        inputs = self._read_inputs(X, False)
        if self._one_target and inputs.recording:
            raise refuse(self._speaker, "the model is for one target per sequence, X is one recording; a single sequence "
                         "is X[None]")
        return self._from_zero(inputs.sequences, inputs.recording), inputs

    def predict(self, X: Any) -> Any:
        """An answer for each step, or for each sequence, as y was; every sequence begins with the zero state."""
        flat, inputs = self._predictions(X)
        return self._shaped(self._answers(flat), inputs)

    def _answers(self, flat: Array) -> Any:
        """What predictions [rows, outputs] say, in the form of y."""
        raise NotImplementedError

    def _from_zero(self, sequences: list[Array], recording: bool) -> Array:
        data = self._data([self._scaled_part(Part(sequences, [], []))], recording)
        rows = len(sequences) if self._one_target else sum(x.shape[0] for x in sequences)
        out = np.empty((rows, self.n_outputs_))
        library = _library.library()
        # A stream takes up another engine with its next row; until then a copy of the model computes on it.
        now = getattr(self, "_made_for", self._engine_now()) == self._engine_now()
        model = self._model if now else self._copy_with(self._stream_options())
        _library.check(library.tt_model_predict(model.number, data.handle.number, 0, address(out), out.size))
        if self.standardise and not self._labels:
            _library.check(library.tt_scales_undo(self._model.number, rows, address(out)))
        return out

    def _shaped(self, flat: Array, inputs: Inputs) -> Any:
        """Answers [rows, ...] as X was: for one recording, equal sequences or a list of them."""
        if inputs.recording or self._one_target:
            return flat
        lengths = [x.shape[0] for x in inputs.sequences]
        parts = np.split(flat, np.cumsum(lengths)[:-1])
        return np.stack(parts) if inputs.single else parts

    def _state_text(self) -> str:
        return f"{self._describe()['parameters']:,} weights" if self._is_fitted() else "not fitted yet"
