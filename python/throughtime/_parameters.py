"""The parameters of estimators: read, set, checked, and as the options of a configuration file."""

from __future__ import annotations

import copy
import html
import inspect
import math
import warnings
from typing import Any, Mapping, Sequence

import numpy as np

from ._arrays import refuse, whole
from ._methods import TBPTT, Adam
from ._river import OfRiver
from ._settings import Settings, plain, toml_text

_SHORT_FIT = 20  # K of the default method on arrays
_SHORT_STREAM = 10  # and on streams
_WHOLE = {"batch": 1, "window": 1, "patience": 0}  # and the least that they can be
_TARGETS = ("auto", "step", "sequence")
_OF_FIT = ("train.epochs", "train.batch", "train.patience")  # parameters that a stream does not read
_OF_VALIDATIONS = ("train.best_by", "train.evaluate_every", "train.evaluate_epochs")  # which streams have none of
_OF_SCALES = ("stream.scaling", "stream.scale_memory", "stream.scale_rows")
_OF_STREAMS = ("stream.anchor", *_OF_SCALES)
_OF_DIRECTORIES = "run.checkpoint_every"
_OF_NOTHING = {  # read elsewhere, and what there is here instead
    "train.iterations": "the parameter epochs says how long a training is",
    "train.evaluate_batches": "a validation is on all of its data",
    "run.directory": "fit has the argument directory",
    "run.name": "a run is called as its directory",
    "run.rank_timeout": "one process trains",
}

DOCUMENTATION = """
    cell, hidden, layers: the model, as `model.cell`, `model.hidden` and `model.layers` of docs/options.md
    learner: the training method, such as FPTT(window_length=20); None: truncated BPTT, 20 steps on arrays, 10 on streams
    optimizer: such as Adam(rate=1e-3, clip=1.0); None: Adam()
    epochs, batch: passes over the data, and rows that are trained side by side, at most
    window: steps of a window of one long recording, which is cut into rows of at least that length
    patience: with a validation, end after so many epochs without a better one; 0: never
    keep_best: with a validation, the weights of the best one are kept, not the last
    targets: "step", "sequence" or "auto": whether y has a target for each step, or one for each sequence
    standardise: inputs and number targets to mean 0 and deviation 1, by running scales
    dropout: between layers; vocabulary: X holds tokens below it instead of numbers
    streams: how many streams learn_one keeps apart; seed, engine, threads: as in a configuration file
    options: further options by their keys, such as {"model.embedding": 16}
    weights: the first weights, arrays by the names of state_dict(); None: drawn from the seed
"""


class Parameters(OfRiver):
    """What an estimator is constructed with."""

    _labels = False
    _speaker = "throughtime"

    def __init__(self, cell: str | Sequence[str] = "lstm", hidden: int | Sequence[int] = 32, layers: int = 1,
                 learner: Settings | None = None, optimizer: Settings | None = None, epochs: float = 10, batch: int = 16,
                 window: int = 100, patience: int = 0, keep_best: bool = True, targets: str = "auto",
                 standardise: bool = False, dropout: float = 0.0, vocabulary: int = 0, streams: int = 1, seed: int = 1,
                 engine: str = "cpu", threads: int = 0, options: Mapping[str, Any] | None = None,
                 weights: Mapping[str, Any] | None = None) -> None:
        self.cell = cell
        self.hidden = hidden
        self.layers = layers
        self.learner = learner
        self.optimizer = optimizer
        self.epochs = epochs
        self.batch = batch
        self.window = window
        self.patience = patience
        self.keep_best = keep_best
        self.targets = targets
        self.standardise = standardise
        self.dropout = dropout
        self.vocabulary = vocabulary
        self.streams = streams
        self.seed = seed
        self.engine = engine
        self.threads = threads
        self.options = options
        self.weights = weights

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        parameters = inspect.signature(cls.__init__).parameters
        return {name: parameter.default for name, parameter in parameters.items() if name != "self"}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        params: dict[str, Any] = {}
        for name in self._defaults():
            value = getattr(self, name)
            params[name] = value
            if deep and isinstance(value, Settings):
                params.update({f"{name}__{key}": each for key, each in value.get_params().items()})
        return params

    def set_params(self, **params: Any) -> Any:
        """Also parts of a method or an optimizer: learner__alpha=0.5. All of them, or where one is refused, none."""
        nested: dict[str, dict[str, Any]] = {}
        own: dict[str, Any] = {}
        known = list(self._defaults())
        for name, value in params.items():
            head, _, rest = name.partition("__")
            if head not in known:
                raise ValueError(f"Invalid parameter {head!r} for estimator {type(self).__name__}. "
                                 f"Valid parameters are: {known!r}.")
            if rest:
                nested.setdefault(head, {})[rest] = value
            else:
                own[head] = value
        owners = {head: own.get(head, getattr(self, head)) for head in nested}
        for head, values in nested.items():
            if not isinstance(owners[head], Settings):
                raise refuse(self._speaker, f"there is no {head} whose {next(iter(values))} could be set; give one first")
            copy.copy(owners[head]).set_params(**values)  # refuses what cannot be
        for head, values in nested.items():
            owners[head].set_params(**values)
        for head, value in own.items():
            setattr(self, head, value)
        return self

    def _check_parameters(self) -> None:
        """Those that the library does not see as they are; it checks the others."""
        for name, least in _WHOLE.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
                raise refuse(self._speaker, f"{name} must be a whole number of at least {least}, got {value!r}")
        if self.vocabulary != -1:  # the library refuses any below 0
            whole(self.vocabulary, self._speaker, "vocabulary", 0)
        epochs = self.epochs
        if isinstance(epochs, bool) or not isinstance(epochs, (int, float, np.number)) or not 0 < epochs < math.inf:
            raise refuse(self._speaker, f"epochs must be a number above 0, got {epochs!r}")
        if self.targets not in _TARGETS:
            raise refuse(self._speaker, f"targets must be one of {', '.join(_TARGETS)}, got {self.targets!r}")
        for name in ("standardise", "keep_best"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise refuse(self._speaker, f"{name} must be True or False, got {getattr(self, name)!r}")
        if self.standardise and self.vocabulary and self._labels:
            raise refuse(self._speaker, "standardise is for numbers, and here are none: X holds tokens, y labels")
        if self.dropout and self.layers == 1:
            warnings.warn(f"[{self._speaker}] dropout is between layers, so it does nothing for a single one", stacklevel=4)
        if isinstance(getattr(self, "classes", None), (str, bytes)):
            raise refuse(self._speaker, f"classes must be a list of labels, got {getattr(self, 'classes')!r}")
        for name in ("options", "weights"):
            if getattr(self, name) is not None and not isinstance(getattr(self, name), Mapping):
                raise refuse(self._speaker, f"{name} must be a dict, got a {type(getattr(self, name)).__name__}")
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

    def _with_options(self, assignments: list[tuple[str, Any]], usual: Mapping[str, Any],
                      without: Sequence[str] = ()) -> str:
        """A configuration file of the parameters, of `options` and of what is usual where these do not say it."""
        own = dict(assignments)
        options = {key: value for key, value in (self.options or {}).items() if key not in without}
        for key in options:
            if key in own or key in _OF_FIT:
                raise refuse(self._speaker, f"options: {key} is said by a parameter already; set that one")
            if key.startswith(("learner.", "optimizer.")):
                raise refuse(self._speaker, f"options: {key} belongs to the object that is the parameter {key.split('.')[0]}")
            if key.startswith("task.") or key.startswith("stream.") and key not in _OF_STREAMS:
                raise refuse(self._speaker, f"options: {key} is for files that the command reads; nothing here reads it")
            if key in _OF_NOTHING:
                raise refuse(self._speaker, f"options: nothing here reads {key}; {_OF_NOTHING[key]}")
            if key in _OF_SCALES and not self.standardise:
                raise refuse(self._speaker, f"options: {key} is about the scales of standardise=True")
        return toml_text({**own, **usual, **options}.items())

    def _check_fit(self, validated: bool, recorded: bool) -> None:
        """What a fit would pass over."""
        if self.patience and not validated:
            raise refuse(self._speaker, "patience waits for validations: give fit validation=(X, y), or set patience=0")
        if _OF_DIRECTORIES in (self.options or {}) and not recorded:
            raise refuse(self._speaker, f"options: {_OF_DIRECTORIES} is for a run directory: give fit directory=...")

    def _fit_options(self, steps: int, recording: bool, sequences: int, validated: bool, epochs: float,
                     streams: bool = False) -> str:
        """`streams`: with the method that they would have."""
        learner = self._stream_learner() if streams else self.learner
        if learner is None:
            learner = TBPTT(preset="plain", truncation=min(_SHORT_FIT, min(self.window, steps) if recording else steps))
        batch = min(self.batch, max(1, steps // self.window)) if recording else min(self.batch, sequences)
        per_epoch = -(-(steps // batch) // self.window) if recording else -(-sequences // batch)
        assignments = self._assignments(learner)
        assignments += [("train.epochs", float(epochs)), ("train.batch", batch), ("train.patience", self.patience),
                        ("task.name", "arrays"), ("task.arrays.length", self.window)]
        usual = {"train.report_every": max(1, per_epoch // 4)}
        if validated and "train.evaluate_epochs" not in (self.options or {}):
            usual["train.evaluate_every"] = per_epoch
        return self._with_options(assignments, usual)

    def _stream_learner(self) -> Settings:
        return self.learner if self.learner is not None else TBPTT(preset="original", truncation=_SHORT_STREAM)

    def _stream_options(self) -> str:
        return self._with_options(self._assignments(self._stream_learner()), {}, without=_OF_VALIDATIONS)

    # ------------------------------------------------------------ for people

    def __repr__(self) -> str:
        return self._text(type(self).__name__)

    def _text(self, name: str, **usual: Any) -> str:
        """The call that makes it, with what is not `usual`."""
        usual = {**self._defaults(), **usual}
        changed = [f"{key}={_shown(value)}" for key, value in self.get_params(deep=False).items()
                   if value is not usual[key] and not (type(value) is type(usual[key]) and value == usual[key])]
        return f"{name}({', '.join(changed)})"

    def _repr_html_(self) -> str:
        return self._table(type(self).__name__)

    def _table(self, title: str, more: Mapping[str, Any] = {}) -> str:
        rows = "".join(f"<tr><td>{name}</td><td>{html.escape(_shown(value))}</td></tr>"
                       for name, value in {**self.get_params(deep=False), **more}.items())
        return f"<table><tr><th>{title}</th><th>{self._state_text()}</th></tr>{rows}</table>"

    def _state_text(self) -> str:
        raise NotImplementedError


def _shown(value: Any) -> str:
    """A parameter on one line: not the numbers of all weights."""
    if isinstance(value, Mapping) and any(hasattr(each, "shape") for each in value.values()):
        return f"{{{len(value)} arrays}}"
    return repr(plain(value) if hasattr(value, "tolist") else value)
