"""Runs of the command, and how far back gradients reach."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any, Mapping, Sequence

import numpy as np

from . import _library
from ._arrays import Part, refuse, whole
from ._estimator import Estimator
from ._history import History
from ._plots import draw_diagnosis
from ._progress import Callback, Listener
from ._settings import plain, toml


def assignments_of(options: Mapping[str, Any], speaker: str) -> list[str]:
    """train__seed=2 as --set has it: train.seed=2."""
    assignments = []
    for name, value in options.items():
        key = name.replace("__", ".")
        try:
            assignments.append(f"{key}={toml(value)}")
        except ValueError as error:
            raise refuse(speaker, f"{key}: {error}") from None
    return assignments


def plain_dict(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: plain(value) for key, value in values.items()}


class Run:
    """A run directory: `metrics` over its iterations (or rows, of a stream), `result` once it has ended, `config`."""

    def __init__(self, path: Any) -> None:
        self.path = pathlib.Path(os.fsdecode(_library.path_of(path, "run")))
        if not (self.path / "config.toml").exists():
            raise refuse("run", f"{self.path} is no run directory: it has no config.toml")

    @property
    def config(self) -> str:
        """The whole configuration as text."""
        return (self.path / "config.toml").read_text(encoding="utf-8")

    @property
    def metrics(self) -> History:
        """What is there so far: a run may be writing the last line."""
        path = self.path / "metrics.jsonl"
        content = path.read_bytes() if path.exists() else b""
        events = []
        for number, line in enumerate(content.split(b"\n")[:-1], 1):
            try:
                events.append(json.loads(line))
            except ValueError as error:
                raise refuse("run", f"{path}, line {number} cannot be read: {error}") from error
        position = "rows" if events and "iteration" not in events[0] else "iteration"
        return History(events, position)

    @property
    def result(self) -> dict[str, Any] | None:
        """What the run came to; None: it has not ended."""
        path = self.path / "result.json"
        if not path.exists():
            return None
        result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return result

    def evaluate(self, split: str = "test", best: bool | None = None, dynamic: bool | Mapping[str, Any] = False,
                 **options: Any) -> dict[str, Any]:
        """`throughtime evaluate --json`: loss and metrics on a split, "train", "validation" or "test". `best`: True takes the
        weights that validation chose, False the last ones, None the first where there are any. `dynamic` goes on learning
        on the way: True, or a dict with settings (rate, decay, epsilon, scaling, segment, columns, tune). `options` say
        where files lie now: task__data=FOLDER."""
        request: dict[str, Any] = {"split": split, "set": assignments_of(options, "evaluate")}
        if best is not None:
            request["best"] = bool(best)
        if dynamic is not False:
            request["dynamic"] = {} if dynamic is True else plain_dict(dynamic)
        result: dict[str, Any] = json.loads(_library.text(_library.library().tt_evaluate, os.fsencode(self.path),
                                                          json.dumps(request).encode()))
        return result

    def plot(self, *names: str, axes: Any = None) -> Any:
        return self.metrics.plot(*names, axes=axes)

    def __repr__(self) -> str:
        return f"Run({str(self.path)!r})"


def train(config: Any, callbacks: Sequence[Callback] = (), verbose: int = 0, **options: Any) -> Run:
    """`throughtime train CONFIG`: trains a configuration file into its run directory. `options` are --set, with two
    underscores for a dot: train__seed=2."""
    listener = Listener(callbacks, verbose)
    assignments = "\n".join(assignments_of(options, "train"))
    with listener:
        directory = _library.text(_library.library().tt_train, _library.path_of(config, "train"), assignments.encode(),
                                  listener.function, None)
    listener.raise_error()
    return Run(directory)


class Diagnosis:
    """How fast the gradients of a model decay on its data. `lengths`, `phi` and `bias` are arrays over the truncations K;
    `document` is all that `throughtime diagnose --json` prints."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.beta = document.get("beta")
        rows = document["lengths"]
        self.lengths = np.array([row["truncation"] for row in rows])
        self.phi = np.array([row["phi"] for row in rows], dtype=np.float64)
        self.bias = np.array([np.inf if row["relative_bias"] is None else row["relative_bias"] for row in rows],
                             dtype=np.float64)

    def truncation(self, bias: float = 0.1) -> int | None:
        """The shortest truncation whose estimated relative bias is at most that; None: none of those looked at."""
        if not isinstance(bias, (int, float, np.number)) or not bias >= 0:
            raise refuse("diagnose", f"bias must be a number of at least 0, got {bias!r}")
        good = self.lengths[self.bias <= bias]
        return int(good[0]) if good.size else None

    def plot(self, axes: Any = None) -> Any:
        """Draws with matplotlib how gradients decay, and where the bias of a truncation is 0.1; returns the axes."""
        return draw_diagnosis(self.lengths, self.phi, self.bias, self.truncation(), axes)

    def __repr__(self) -> str:
        return f"Diagnosis(beta={self.beta}, truncation for a bias of 0.1: {self.truncation(0.1)})"

    def _repr_html_(self) -> str:
        found = {bias: self.truncation(bias) for bias in (0.3, 0.1, 0.03, 0.01)}
        rows = "".join(f"<tr><td>{bias:g}</td><td>{'above ' + str(self.lengths[-1]) if steps is None else steps}</td></tr>"
                       for bias, steps in found.items())
        return f"<table><tr><th>relative bias</th><th>truncation in steps</th></tr>{rows}</table>"


def diagnose(model: Any, X: Any, y: Any, positions: int = -1, lags: int = -1, burn_in: int = -1) -> Diagnosis:
    """How far back the gradients of a fitted model reach on that data (docs/diagnose.md): at `positions` random places, up
    to `lags` steps, after `burn_in` steps from the zero state. -1: as the model's parameters say now, and where these say
    nothing, batch places, lags up to 100 or what a sequence has, 20 steps of burn-in."""
    if not isinstance(model, Estimator):
        raise refuse("diagnose", f"the model must be a Regressor or a Classifier, got a {type(model).__name__}")
    with model._turn():
        return _diagnose(model, X, y, positions, lags, burn_in)


def _diagnose(model: Estimator, X: Any, y: Any, positions: int, lags: int, burn_in: int) -> Diagnosis:
    model._require_fitted()
    model._check_scales()
    asked = [whole(value, "diagnose", name, -1)
             for name, value in (("positions", positions), ("lags", lags), ("burn_in", burn_in))]
    inputs = model._read_inputs(X, False)
    targets = model._read_targets(y, inputs, False)
    data = model._data([model._scaled_part(Part(inputs.sequences, targets, []))], inputs.recording)
    longest = max(each.shape[0] for each in inputs.sequences)
    options = model._fit_options(longest, inputs.recording, len(inputs.sequences), False, 1, model._live)
    asked_for = model._copy_with(options)
    text = _library.text(_library.library().tt_model_diagnose, asked_for.number, data.handle.number, *asked, room=1 << 22)
    return Diagnosis(json.loads(text))
