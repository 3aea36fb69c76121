"""What regressors and classifiers share: parameters and training."""

from __future__ import annotations

import html
import inspect
import json
import math
import os
from typing import Any, Mapping, Sequence

import numpy as np

from . import _library
from ._arrays import Array, Data, Inputs, Part, address, array_of, inputs_of, numbers, refuse
from ._history import History
from ._methods import TBPTT, Adam
from ._progress import Callback, Listener
from ._settings import Settings, toml_text
from ._weights import Weights

_SHORT_FIT = 20  # K of the default method on arrays
_SHORT_STREAM = 10  # and on streams
_WHOLE = {"batch": 1, "window": 1, "patience": 0}  # and the least that they can be
_TARGETS = ("auto", "step", "sequence")


class Estimator(Weights):
    """Parameters are those of the constructor; what ends with _ is there after learning."""

    _labels = False
    _speaker = "throughtime"

    cell: Any
    hidden: Any
    layers: int
    learner: Settings | None
    optimizer: Settings | None
    epochs: float
    batch: int
    window: int
    patience: int
    keep_best: bool
    targets: str
    standardise: bool
    dropout: float
    vocabulary: int
    streams: int
    seed: int
    engine: str
    threads: int
    options: Mapping[str, Any] | None
    n_features_in_: int
    n_outputs_: int

    # ------------------------------------------------------------ parameters

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return [name for name in inspect.signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        params: dict[str, Any] = {}
        for name in self._parameter_names():
            value = getattr(self, name)
            params[name] = value
            if deep and isinstance(value, Settings):
                params.update({f"{name}__{key}": each for key, each in value.get_params().items()})
        return params

    def set_params(self, **params: Any) -> Any:
        """Also parts of a method or an optimizer: learner__alpha=0.5."""
        nested: dict[str, dict[str, Any]] = {}
        known = self._parameter_names()
        for name, value in params.items():
            head, _, rest = name.partition("__")
            if head not in known:
                raise ValueError(f"Invalid parameter {head!r} for estimator {type(self).__name__}. "
                                 f"Valid parameters are: {known!r}.")
            if rest:
                nested.setdefault(head, {})[rest] = value
            else:
                setattr(self, head, value)
        for head, values in nested.items():
            owner = getattr(self, head)
            if owner is None:
                raise refuse(self._speaker, f"there is no {head} whose {next(iter(values))} could be set; give one first")
            owner.set_params(**values)
        return self

    def _check_parameters(self) -> None:
        """Those that the library does not see as they are; it checks the others."""
        for name, least in _WHOLE.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
                raise refuse(self._speaker, f"{name} must be a whole number of at least {least}, got {value!r}")
        epochs = self.epochs
        if isinstance(epochs, bool) or not isinstance(epochs, (int, float, np.number)) or not 0 <= epochs < math.inf:
            raise refuse(self._speaker, f"epochs must be a number of at least 0, got {epochs!r}")
        if self.targets not in _TARGETS:
            raise refuse(self._speaker, f"targets must be one of {', '.join(_TARGETS)}, got {self.targets!r}")
        for name in ("standardise", "keep_best"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise refuse(self._speaker, f"{name} must be True or False, got {getattr(self, name)!r}")
        for key in self.options or {}:
            if not isinstance(key, str) or "." not in key:
                raise refuse(self._speaker, f"options has the keys of a configuration file, such as 'model.embedding'; "
                             f"got {key!r}")

    def _assignments(self, learner: Settings) -> list[tuple[str, Any]]:
        """All parameters as options of a configuration file."""
        optimizer = self.optimizer if self.optimizer is not None else Adam()
        for name, value, example in (("learner", learner, "a learner such as FPTT()"),
                                     ("optimizer", optimizer, "an optimizer such as Adam()")):
            if not isinstance(value, Settings) or value._table != name:
                raise refuse(self._speaker, f"{name} must be {example}, got {value!r}")
        assignments: list[tuple[str, Any]] = [
            ("model.cell", self.cell), ("model.hidden", self.hidden), ("model.layers", self.layers),
            *learner._assignments(), *optimizer._assignments(),
            ("train.seed", self.seed), ("run.engine", self.engine), ("run.threads", self.threads),
            ("stream.slots", self.streams),
        ]
        if self.dropout:
            assignments.append(("model.dropout_between", self.dropout))
        return assignments

    def _with_options(self, assignments: list[tuple[str, Any]], usual: Mapping[str, Any]) -> str:
        """A configuration file of the parameters, of `options` and of what is usual where these do not say it."""
        own, options = dict(assignments), dict(self.options or {})
        twice = [key for key in options if key in own]
        if twice:
            raise refuse(self._speaker, f"options: {twice[0]} is said by a parameter already; set that one")
        return toml_text({**own, **usual, **options}.items())

    def _fit_options(self, steps: int, recording: bool, sequences: int, validated: bool) -> str:
        learner = self.learner
        if learner is None:
            learner = TBPTT(preset="plain", truncation=min(_SHORT_FIT, min(self.window, steps) if recording else steps))
        batch = min(self.batch, max(1, steps // self.window)) if recording else min(self.batch, sequences)
        per_epoch = -(-(steps // batch) // self.window) if recording else -(-sequences // batch)
        assignments = self._assignments(learner)
        assignments += [("train.epochs", float(self.epochs)), ("train.batch", batch), ("train.patience", self.patience),
                        ("task.name", "arrays"), ("task.arrays.length", self.window)]
        usual = {"train.report_every": max(1, per_epoch // 4)}
        if validated:
            usual["train.evaluate_every"] = per_epoch
        return self._with_options(assignments, usual)

    def _stream_options(self) -> str:
        learner = self.learner if self.learner is not None else TBPTT(preset="original", truncation=_SHORT_STREAM)
        return self._with_options(self._assignments(learner), {})

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

    def _make_model(self, options: str, features: int) -> None:
        vocabulary = self.vocabulary
        self._model: Any = _library.new_handle(
            _library.library().tt_model_new, options.encode(), 0 if vocabulary else features, vocabulary,
            self.n_outputs_, int(self._labels))
        self._live = False
        self._slots: dict[Any, int] = {}
        self._waiting: list[Any] = []
        self._description: Any = None

    def _describe(self) -> dict[str, Any]:
        self._require_fitted()
        result: dict[str, Any] = json.loads(_library.text(_library.library().tt_model_describe, self._model.number))
        return result

    def _forget(self) -> None:
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("__")]:
            delattr(self, name)
        for name in ("_model", "_live", "_slots", "_waiting", "_one_target", "_flat_target", "_target_names",
                     "_buffers"):
            self.__dict__.pop(name, None)

    def _check_names(self, names: list[str] | None) -> None:
        known = getattr(self, "feature_names_in_", None)
        if names is None or known is None or list(known) == names:
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

    def _read_inputs(self, x: Any, first: bool) -> Inputs:
        inputs = inputs_of(x, self._speaker, self.vocabulary)
        features = 1 if self.vocabulary else inputs.sequences[0].shape[1]
        if first:
            self.n_features_in_ = features
            if inputs.names is not None:
                self.feature_names_in_ = np.array(inputs.names, dtype=object)
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
        if not per_step:
            return self._encode_all([np.asarray(part)[None] for part in parts], first)
        return self._encode_all([np.asarray(part) for part in parts], first)

    def _targets_of_recording(self, y: Any, steps: int, first: bool) -> list[Array]:
        if first:
            self._one_target = False
        elif self._one_target:
            raise refuse(self._speaker, "the model was made for one target per sequence, X is one recording")
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
        if inputs.recording:
            parts = [numbers(weight, self._speaker, "sample_weight")]
        else:
            parts = [numbers(each, self._speaker, "sample_weight") for each in weight]
        if len(parts) != len(steps):
            raise refuse(self._speaker, f"sample_weight must have an entry for each of {len(steps)} sequences, got {len(parts)}")
        result = []
        for part, n in zip(parts, steps):
            if part.ndim == 0:
                part = np.full(n, part, dtype=np.float32)
            if part.shape != (n,):
                raise refuse(self._speaker, f"sample_weight must have {n} numbers for {n} steps, got shape {part.shape}")
            result.append(part)
        return result

    # ------------------------------------------------------------ learning from arrays

    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None, validation: Any = None,
            directory: Any = None, callbacks: Sequence[Callback] = (), verbose: int = 0) -> Any:
        """Trains from new weights. X is [steps, features], [sequences, steps, features] or a list of recordings; y has a
        target for each step, or one for each sequence. `validation` is (X, y); `directory` writes a run that the
        command can resume."""
        self._forget()
        try:
            return self._train(X, y, sample_weight, validation, directory, callbacks, verbose, False)
        except BaseException:
            if not self._is_fitted():
                self._forget()
            raise

    def partial_fit(self, X: Any, y: Any = None, *, sample_weight: Any = None,
                    callbacks: Sequence[Callback] = (), verbose: int = 0, **more: Any) -> Any:
        """One pass over X from the weights as they are; the optimizer goes on, too."""
        if more:
            raise TypeError(f"partial_fit got an unexpected keyword argument {next(iter(more))!r}")
        return self._train(X, y, sample_weight, None, None, callbacks, verbose, True)

    def _train(self, X: Any, y: Any, sample_weight: Any, validation: Any, directory: Any,
               callbacks: Sequence[Callback], verbose: int, more: bool) -> Any:
        self._check_parameters()
        first = not self._is_fitted()
        inputs = self._read_inputs(X, first)
        targets = self._read_targets(y, inputs, first)
        weights = self._read_weights(sample_weight, inputs)
        parts = [Part(inputs.sequences, targets, weights)]
        if validation is not None:
            parts.append(self._validation_part(validation, inputs.recording))
        longest = max(each.shape[0] for each in inputs.sequences)
        options = self._fit_options(longest, inputs.recording, len(inputs.sequences), validation is not None)
        if more:
            options = _one_pass(options)
        if first:
            self._make_model(options, self.n_features_in_)
        else:
            self._set_options(options)
        try:
            self._run(self._scaled_parts(parts, first), inputs.recording, directory, callbacks, verbose, more)
        except (ValueError, MemoryError):
            if first:
                self._forget()
            raise
        return self

    def _validation_part(self, validation: Any, recording: bool) -> Part:
        if not isinstance(validation, (tuple, list)) or len(validation) != 2:
            raise refuse(self._speaker, "validation must be a pair (X, y)")
        inputs = self._read_inputs(validation[0], False)
        if inputs.recording != recording:
            raise refuse(self._speaker, "X and the validation's X must both be one recording, or both be sequences")
        return Part(inputs.sequences, self._read_targets(validation[1], inputs, False), [])

    def _run(self, parts: list[Part], recording: bool, directory: Any, callbacks: Sequence[Callback], verbose: int,
             more: bool) -> None:
        data = self._data(parts, recording)
        listener = Listener(callbacks, verbose, self._take_plan)
        folder = None if directory is None else os.fsencode(os.fspath(directory))
        with listener:
            status = _library.library().tt_model_fit(self._model.number, data.handle.number, folder, int(more),
                                                     int(self.keep_best), listener.function, None)
        _library.check(status)
        self.history_ = History(listener.events)
        self.n_iter_ = listener.end["iteration"]
        self._live = False
        self._slots = {}
        listener.raise_error()

    def _take_plan(self, plan: Mapping[str, Any]) -> None:
        """What is known before the first step."""
        self.memory_ = plan["activation_bytes"]

    def _data(self, parts: Sequence[Part], recording: bool) -> Data:
        shape = (0 if self.vocabulary else self.n_features_in_, self.vocabulary, self.n_outputs_, int(self._labels),
                 int(self._one_target), int(recording))
        return Data(shape, parts, self.vocabulary, self._labels)

    def _set_options(self, options: str) -> None:
        _library.check(_library.library().tt_model_set_options(self._model.number, options.encode()))
        self._live = False
        self._slots = {}

    # ------------------------------------------------------------ scales

    def _scaled_parts(self, parts: list[Part], first: bool) -> list[Part]:
        if not self.standardise:
            return parts
        if self.vocabulary:
            raise refuse(self._speaker, "standardise is for numbers, X holds tokens")
        library = _library.library()
        if first:
            _library.check(library.tt_scales_begin(self._model.number))
        for i, x in enumerate(parts[0].inputs):
            y = None if self._labels or self._one_target else address(parts[0].targets[i])
            _library.check(library.tt_scales_add(self._model.number, x.shape[0], address(x), y))
            if self._one_target and not self._labels:
                self._add_target_scale(parts[0].targets[i], x)
        return [Part([self._scaled(x) for x in part.inputs],
                     part.targets if self._labels else [self._scaled(y, True) for y in part.targets], part.weights)
                for part in parts]

    def _add_target_scale(self, y: Array, x: Array) -> None:
        """One target of a sequence counts once; the row of inputs beside it counts once more, which moves nothing much."""
        row = np.ascontiguousarray(x[-1:])
        _library.check(_library.library().tt_scales_add(self._model.number, 1, address(row), address(y)))

    def _means(self, of_targets: bool) -> tuple[Array, Array]:
        count = self.n_features_in_ + (0 if self._labels else self.n_outputs_)
        means, deviations = np.empty(count), np.empty(count)
        _library.check(_library.library().tt_scales_get(self._model.number, address(means), address(deviations), count))
        part = slice(self.n_features_in_, None) if of_targets else slice(0, self.n_features_in_)
        deviations[deviations == 0] = 1.0
        return means[part], deviations[part]

    def _scaled(self, x: Array, targets: bool = False) -> Array:
        means, deviations = self._means(targets)
        return np.clip((x - means) / deviations, -10, 10).astype(np.float32)

    # ------------------------------------------------------------ predictions

    def _predictions(self, X: Any) -> tuple[Array, Inputs]:
        """[all steps or sequences, outputs], from the zero state; streams are left alone."""
        self._require_fitted()
        inputs = self._read_inputs(X, False)
        if self._one_target and inputs.recording:
            raise refuse(self._speaker, "the model was made for one target per sequence, X is one recording")
        sequences = [self._scaled(x) for x in inputs.sequences] if self.standardise else inputs.sequences
        data = self._data([Part(sequences, [], [])], inputs.recording)
        rows = len(sequences) if self._one_target else sum(x.shape[0] for x in sequences)
        out = np.empty((rows, self.n_outputs_))
        _library.check(_library.library().tt_model_predict(self._model.number, data.handle.number, 0, address(out),
                                                           out.size))
        if self.standardise and not self._labels:
            means, deviations = self._means(True)
            out = out * deviations + means
        return out, inputs

    def _shaped(self, flat: Array, inputs: Inputs) -> Any:
        """Answers [rows, ...] as X was: for one recording, equal sequences or a list of them."""
        if inputs.recording or self._one_target:
            return flat
        lengths = [x.shape[0] for x in inputs.sequences]
        parts = np.split(flat, np.cumsum(lengths)[:-1])
        return np.stack(parts) if inputs.single else parts

    def __repr__(self) -> str:
        defaults = {name: parameter.default for name, parameter in inspect.signature(type(self).__init__).parameters.items()}
        changed = [f"{name}={value!r}" for name, value in self.get_params(deep=False).items() if value is not defaults[name]
                   and not (value == defaults[name] and type(value) is type(defaults[name]))]
        return f"{type(self).__name__}({', '.join(changed)})"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{name}</td><td>{html.escape(repr(value))}</td></tr>"
                       for name, value in self.get_params(deep=False).items())
        state = f"{self._describe()['parameters']:,} weights" if self._is_fitted() else "not fitted yet"
        return f"<table><tr><th>{type(self).__name__}</th><th>{state}</th></tr>{rows}</table>"


def _one_pass(options: str) -> str:
    lines = ["epochs = 1.0" if line.startswith("epochs = ") else line for line in options.split("\n")]
    return "\n".join(lines)
