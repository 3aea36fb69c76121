"""For methods of your own: a model, an engine that computes with it, and windows of data. Every training method of the
library is made of these calls (docs/architecture.md)."""

from __future__ import annotations

import ctypes
import json
import math
from typing import Any, Sequence

import numpy as np

from . import _library
from ._arrays import Array, Data, Part, address, numbers, refuse, whole, whole_numbers
from ._methods import Adam
from ._settings import Settings, toml_text


class Model:
    """A model without data: cells, a head, and first weights drawn from a seed."""

    def __init__(self, features: int, outputs: int, cell: str = "lstm", hidden: int | Sequence[int] = 32, layers: int = 1,
                 classes: bool = False, optimizer: Settings | None = None, seed: int = 1, engine: str = "cpu",
                 threads: int = 1) -> None:
        self.features, self.outputs = whole(features, "model", "features", 1), whole(outputs, "model", "outputs", 1)
        self.classes = classes
        chosen = optimizer if optimizer is not None else Adam()
        if not isinstance(chosen, Settings) or chosen._table != "optimizer":
            raise refuse("model", f"optimizer must be an optimizer such as Adam(), got {chosen!r}")
        options = toml_text([("model.cell", cell), ("model.hidden", hidden), ("model.layers", layers),
                             *chosen._assignments(), ("train.seed", seed), ("run.engine", engine), ("run.threads", threads)])
        self._handle = _library.new_handle(_library.library().tt_model_new, options.encode(), self.features, 0,
                                           self.outputs, int(classes))
        described = json.loads(_library.text(_library.library().tt_model_describe, self._handle.number))
        self.parameters: int = described["parameters"]
        self.state: int = described["state"]  # numbers of a row's state, S
        self.blocks: list[dict[str, Any]] = described["blocks"]

    def __repr__(self) -> str:
        return f"<Model: {self.features} features, {self.outputs} outputs, {self.parameters:,} weights>"


class Window:
    """`steps` steps of some rows. X is [sequences, steps, features] or a list of recordings, y has a target for each step;
    row b reads sequence[b] from start[b] on. `weight` [steps, rows] and `reset` [steps, rows] are optional."""

    def __init__(self, X: Any, y: Any, steps: int, start: Sequence[int], sequence: Sequence[int] | None = None,
                 weight: Any = None, reset: Any = None, classes: int = 0) -> None:
        classes = whole(classes, "window", "classes", 0)
        inputs, targets = _sequences(X, y, classes > 0)
        labels = classes > 0
        begin = _list_of(start, np.int64, "start")
        self.steps, self.rows = whole(steps, "window", "steps", 1), len(begin)
        outputs = classes if labels else targets[0].shape[1]
        self._data = Data((inputs[0].shape[1], 0, outputs, int(labels), 0, 0), [Part(inputs, targets, [])], 0, labels)
        first = np.zeros(self.rows, dtype=np.int32)
        which = first if sequence is None else _list_of(sequence, np.int32, "sequence")
        if which.shape != begin.shape:
            raise refuse("window", f"sequence and start must have as many rows, got {which.size} and {begin.size}")
        weights = None if weight is None else self._entries(numbers(weight, "window", "weight"), "weight")
        resets = None if reset is None else self._entries((numbers(reset, "window", "reset") != 0).astype(np.uint8), "reset")
        self._handle = _library.new_handle(
            _library.library().tt_window_new, self._data.handle.number, self.steps, self.rows, address(which), address(begin),
            None if weights is None else address(weights), None if resets is None else address(resets))

    def __repr__(self) -> str:
        return f"<Window: {self.steps} steps of {self.rows} rows>"

    def _entries(self, array: Array, name: str) -> Array:
        if array.shape != (self.steps, self.rows):
            raise refuse("window", f"{name} must be [steps, rows] = [{self.steps}, {self.rows}], got shape {array.shape}")
        return array


def _list_of(values: Any, kind: Any, name: str) -> Array:
    array = whole_numbers(values, kind, "window", name)
    if np.ndim(values) != 1:
        raise refuse("window", f"{name} must be a list with an entry for each row, got {values!r}")
    return array


def _is_many(values: Any) -> bool:
    return np.iterable(values) and not isinstance(values, (str, bytes))


def _sequences(X: Any, y: Any, labels: bool) -> tuple[list[Array], list[Array]]:
    """Inputs [steps, features], and labels [steps] or targets [steps, outputs]. The library takes their shapes as said."""
    if not _is_many(X) or not _is_many(y):
        raise refuse("window", "X and y must be lists or arrays of sequences")
    inputs = [numbers(x, "window", "X") for x in X]
    if not inputs or any(x.ndim != 2 for x in inputs):
        raise refuse("window", "X must be [sequences, steps, features], or a list of recordings [steps, features]")
    targets = [whole_numbers(t, np.int32, "window", "y") if labels else numbers(t, "window", "y") for t in y]
    if [t.shape[:1] for t in targets] != [x.shape[:1] for x in inputs]:
        raise refuse("window", "X and y must have as many sequences, and these as many steps")
    if labels and any(t.ndim != 1 for t in targets):
        raise refuse("window", "y must have one label for each step")
    targets = targets if labels else [t.reshape(len(t), -1) for t in targets]
    for name, what, arrays in (("X", "features", inputs), ("y", "numbers for a target", [] if labels else targets)):
        widths = sorted({each.shape[1] for each in arrays})
        if len(widths) > 1:
            raise refuse("window", f"all sequences of {name} must have as many {what}, got {', '.join(map(str, widths))}")
    return inputs, targets


class Buffer:
    """Numbers that the engine owns. `value` reads and writes all of them."""

    def __init__(self, engine: Engine, number: int, shape: tuple[int, ...]) -> None:
        self._engine, self.number, self.shape = engine, number, shape

    @property
    def value(self) -> Array:
        values = np.empty(self.shape)
        _library.check(_library.library().tt_engine_read(self._engine._handle.number, self.number, address(values),
                                                         values.size))
        return values

    @value.setter
    def value(self, values: Any) -> None:
        try:
            array = np.ascontiguousarray(np.broadcast_to(np.asarray(values, dtype=np.float64), self.shape))
        except (TypeError, ValueError) as error:
            raise refuse("engine", f"the numbers of {self!r} must have that shape, or one that it can be made of: {error}"
                         ) from error
        _library.check(_library.library().tt_engine_write(self._engine._handle.number, self.number, address(array),
                                                          array.size))

    def __repr__(self) -> str:
        return f"<Buffer {self.number}: {list(self.shape)}>"


class Engine:
    """Computes with a model. `parameters` are its weights, `gradient` is where gradients go unless told otherwise."""

    def __init__(self, model: Model) -> None:
        _require_kind(model, Model, "the model")
        self.model = model
        self._handle = _library.new_handle(_library.library().tt_engine_new, model._handle.number)
        self.parameters = Buffer(self, 0, (model.parameters,))
        self.gradient = Buffer(self, 1, (model.parameters,))

    def __repr__(self) -> str:
        return f"<Engine of {self.model!r}>"

    def buffer(self, *shape: int) -> Buffer:
        """A buffer of zeros."""
        sizes = tuple(whole(size, "engine", "a side of a buffer", 0, 2**63 - 1) for size in shape)
        count = whole(math.prod(sizes), "engine", "the numbers of a buffer", 0, 2**63 - 1)
        number = ctypes.c_int32()
        _library.check(_library.library().tt_engine_buffer(self._handle.number, count, ctypes.byref(number)))
        return Buffer(self, number.value, sizes)

    def unroll(self, window: Window, initial_state: Buffer | None = None, final_state: Buffer | None = None,
               losses: Buffer | None = None, loss_sum: Buffer | None = None, predictions: Buffer | None = None,
               training: bool = True) -> None:
        """Runs a window and keeps its tape. States are [rows, S], losses [steps, rows], loss_sum [1] is added to."""
        _require_kind(window, Window, "the window")
        _library.check(_library.library().tt_engine_unroll(
            self._handle.number, window._handle.number, int(training), self._number(initial_state),
            self._number(final_state), self._number(losses), self._number(loss_sum), self._number(predictions)))

    def pull_back(self, gradient: Buffer | None = None, add: bool = False, end_cotangent: Buffer | None = None,
                  initial_cotangent: Buffer | None = None) -> None:
        """The gradient of the window that was unrolled last: a sum over steps and rows."""
        _library.check(_library.library().tt_engine_pull_back(
            self._handle.number, self._number(gradient or self.gradient), int(add), self._number(end_cotangent),
            self._number(initial_cotangent)))

    def apply_update(self, rate: float, scale: float = 1.0, gradient: Buffer | None = None) -> None:
        """One step of the optimizer, with `scale` times the gradient."""
        for name, value in (("rate", rate), ("scale", scale)):
            if not isinstance(value, (int, float, np.number)):
                raise refuse("engine", f"{name} must be a number, got {value!r}")
        _library.check(_library.library().tt_engine_update(
            self._handle.number, self._number(gradient or self.gradient), float(rate), float(scale)))

    def _number(self, buffer: Buffer | None) -> int:
        """Buffers are numbered by their engines, so that the number of another's would be a buffer here, too."""
        if buffer is None:
            return -1
        _require_kind(buffer, Buffer, "a buffer")
        if buffer._engine._handle is not self._handle:
            raise refuse("engine", f"{buffer!r} belongs to another engine")
        return buffer.number


def _require_kind(value: Any, kind: type, what: str) -> None:
    if not isinstance(value, kind):
        raise refuse("engine", f"{what} must be a {kind.__name__}, got {value!r}")
