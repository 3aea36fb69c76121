"""Learning from rows as they come, on the same objects; the calls are river's."""

from __future__ import annotations

import collections
import contextlib
from ctypes import addressof, byref, c_double, c_int64
from typing import Any, Mapping

import numpy as np

from . import _library
from ._arrays import (Array, StepBuffer, address, array_of, as_array, as_row, names_array, names_of, numbers, refuse,
                      tokens_of, whole)
from ._estimator import Estimator
from ._turns import in_turn

_ROWS_OF_A_CALL = 50_000  # between them Ctrl-C is heard
_MOST_WAITING = 10_000  # rows of a stream whose answers are not known: memory stays constant


class _Buffers:
    """What calls of one row write into: made once."""

    def __init__(self, features: int, outputs: int) -> None:
        self.x = StepBuffer(features)
        self.y = StepBuffer(outputs)
        self.shape = (features,)
        self.answers = (c_double * outputs)()  # plain numbers without a step through NumPy
        self.answer = np.frombuffer(memoryview(self.answers), dtype=np.float64)
        self.answer_address = addressof(self.answers)
        library = _library.library()
        self.predict, self.observe = library.tt_stream_predict, library.tt_stream_observe


class StreamEstimator(Estimator):
    """An estimator with streams. `stream` names one of several (the parameter `streams` says how many at a time)."""

    _supervised = True  # river asks for both
    _multiclass = True

    # ------------------------------------------------------------ the stream itself

    def _begin(self, x: Any, y: Any) -> None:
        """The first row decides what rows are."""
        if not self._is_fitted():
            self._check_parameters()
            self._forget()
            x = as_row(x)
            self.n_features_in_ = 1 if self.vocabulary else self._width(x)
            if isinstance(x, Mapping):
                self.feature_names_in_ = names_array(list(x))
            self._one_target = False
            self._learn_target(y)
            self._make_model(self._stream_options())
        self._settle()

    def _first_row(self) -> Any:
        """For what begins a stream, or takes up other parameters: a row that is refused there has done neither. Ctrl-C
        is no refusal: what was learnt is kept."""
        return contextlib.nullcontext() if "_buffers" in self.__dict__ else self._all_or_nothing(Exception)

    def _settle(self) -> None:
        """The stream begins, or goes on: with its state where the parameters say what they said before. Until something
        else happens than rows, `_buffers` is there and nobody asks again."""
        if "_buffers" in self.__dict__:
            return
        self._check_scales()
        options = self._stream_options()
        if not self._live or options != getattr(self, "_stream_text", options):
            self._go_on(options)
        self._live = True
        self._stream_text = options
        self._buffers = _Buffers(self._reals(), self.n_outputs_)
        # Columns that have no names are called by their numbers.
        self._names = list(getattr(self, "feature_names_in_", range(self.n_features_in_)))

    @in_turn
    def set_params(self, **params: Any) -> Any:
        """Also parts of a method or an optimizer: learner__alpha=0.5. A stream takes it up with its next row, and begins
        there with the zero state."""
        super().set_params(**params)
        self.__dict__.pop("_buffers", None)
        return self

    def _width(self, x: Any) -> int:
        if isinstance(x, Mapping):
            width = len(x)
        else:
            width = int(as_array(x).size)
        if width == 0:
            raise refuse(self._speaker, "a row must have at least one number")
        return width

    def _learn_target(self, y: Any) -> None:
        raise NotImplementedError

    def _slot(self, stream: Any, token: int, target: int | None = None) -> int:
        """The slot of a stream whose row is in the buffers."""
        slots = self._slots
        if stream is None and len(slots) == 1 and None in slots:
            return slots[None]
        slot = self._known_slot(stream)
        if slot is None:
            self._check_row(token, target)
            slot = self._new_slot()
        else:
            del slots[stream]
        slots[stream] = slot  # the last one spoke last
        return slot

    def _new_slot(self) -> int:
        """A free one, else that of the stream that has been silent longest, which ends: nobody can answer its rows any
        more."""
        slot = self._free_slot()
        if slot is None:
            silent = next(iter(self._slots))
            slot = self._slots[silent]
            _library.check(_library.library().tt_stream_reset(self._model.number, slot))
            del self._slots[silent]
            self._waiting.pop(silent, None)
        return slot

    def _check_row(self, token: int, target: int | None) -> None:
        """Refuses a row that could not be learned from, before it takes a place; a look changes nothing."""
        buffers = self._buffers
        _library.check(buffers.predict(self._model.number, 0, buffers.x.address, token, buffers.answer_address))
        if target is not None and not np.isfinite(buffers.y.array).all():
            raise refuse(self._speaker, "targets must be finite numbers")

    def _known_slot(self, stream: Any) -> int | None:
        try:
            return self._slots.get(stream)
        except TypeError as error:
            raise refuse(self._speaker, f"stream must be a number, a text or None, got {stream!r}") from error

    def _free_slot(self) -> int | None:
        return min(set(range(self.streams)) - set(self._slots.values()), default=None)

    def _put(self, x: Any) -> int:
        """Writes a row where the library reads it; returns the token, -1 where there is none."""
        if self.vocabulary:
            return self._token(x)
        buffer = self._buffers.x
        if type(x) is np.ndarray and x.shape == self._buffers.shape and x.dtype.kind in "fiub":
            buffer.array[:] = x
            return -1
        if type(x) is dict or isinstance(x, Mapping):
            names = self._names
            if len(x) != len(names):
                raise self._other_names(x)
            try:
                buffer.numbers[:] = [x[name] for name in names]
            except KeyError:
                raise self._other_names(x) from None
            except (TypeError, OverflowError) as error:
                raise refuse(self._speaker, f"a row must hold numbers, got {x!r}") from error
            return -1
        if type(x) is not np.ndarray:
            row = as_row(x)
            if row is not x and hasattr(self, "feature_names_in_"):
                return self._put(row)
            x = as_array(x)
        if x.size != buffer.width or x.ndim > 1:
            what = f"an array of shape {x.shape}" if x.ndim else repr(x.item())
            raise refuse(self._speaker, f"a row must have {buffer.width} number{'s' if buffer.width != 1 else ''}, got {what}")
        self._fill(buffer, x, "a row must hold numbers")
        return -1

    def _other_names(self, x: Mapping[Any, Any]) -> ValueError:
        self._check_names(list(x))
        return refuse(self._speaker, f"a row has {self.n_features_in_} numbers without names, got {len(x)} with names")

    def _token(self, x: Any) -> int:
        return whole(x, self._speaker, "a token", -2**31)

    def _fill(self, buffer: StepBuffer, values: Any, what: str) -> None:
        array = np.asarray(values)
        try:
            if array.dtype.kind == "O":  # numbers of Python, such as a Decimal; texts and dates are none
                buffer.numbers[:] = array.ravel().tolist()
            elif array.dtype.kind in "fiub":
                buffer.array[:] = array
            else:
                raise TypeError("no numbers")
        except (TypeError, ValueError, OverflowError) as error:
            raise refuse(self._speaker, f"{what}, got {values!r}") from error

    def _put_target(self, y: Any) -> tuple[int | None, int]:
        """Writes a target; returns its address and its label. (None, -1): nobody knows it."""
        raise NotImplementedError

    def _answer(self) -> Any:
        raise NotImplementedError

    # ------------------------------------------------------------ rows

    def _look(self, x: Any, stream: Any) -> bool:
        """Whether there is an answer to x: not before anything was learned."""
        if not self._is_fitted():
            return False
        if "_buffers" not in self.__dict__:
            with self._first_row():
                self._begin(x, None)
                return self._look(x, stream)
        token = self._put(x)
        slot = self._known_slot(stream)
        if slot is None:
            slot = self._free_slot()
        buffers = self._buffers
        if slot is None:  # this stream would take the place of another, which it does when it learns
            row = np.array(token, dtype=np.int32) if self.vocabulary else buffers.x.array
            buffers.answer[:] = self._from_zero([row[None].copy()], False)[0]
            return True
        status = buffers.predict(self._model.number, slot, buffers.x.address, token, buffers.answer_address)
        if status:
            _library.check(status)
        return True

    def _observe(self, x: Any, y: Any, stream: Any) -> None:
        if "_buffers" not in self.__dict__:
            with self._first_row():
                self._begin(x, y)
                self._observe(x, y, stream)
            return
        if self._waiting:
            self._require_told(stream)
        token = self._put(x)
        target, label = self._put_target(y)
        buffers = self._buffers
        status = buffers.observe(self._model.number, self._slot(stream, token, target), buffers.x.address, token, target,
                                 label, buffers.answer_address)
        if status:
            _library.check(status)

    def _require_told(self, stream: Any) -> None:
        """Rows are learned in their order."""
        waiting = len(self._waiting.get(stream, ())) if self._known_slot(stream) is not None else 0
        if waiting:
            raise refuse(self._speaker, f"{waiting} row{'s' if waiting > 1 else ''} of the stream must be answered before the "
                         "next one is learned: tell(y), or tell(None) where nobody knows")

    def learn_one(self, x: Any, y: Any, stream: Any = None) -> Any:
        """Learns from one row, after those before it. y None: the answer is not known, and the state moves on."""
        with self._turn():
            self._observe(x, y, stream)
        return self

    def observe(self, x: Any, y: Any, stream: Any = None) -> Any:
        """The prediction for x, then learns from (x, y): predict_one and learn_one in one call."""
        with self._turn():
            self._observe(x, y, stream)
            return self._answer()

    def learn_many(self, X: Any, y: Any, stream: Any = None) -> Any:
        """learn_one for the rows of X, in one call. Ctrl-C ends it between rows; what was learnt is kept."""
        self.observe_many(X, y, stream)
        return self

    def observe_many(self, X: Any, y: Any, stream: Any = None) -> Any:
        """observe for the rows of X [rows, features], in one call. y None: nobody knows the answers."""
        with self._turn(), self._first_row():
            return self._observe_rows(X, y, stream)

    def _observe_rows(self, X: Any, y: Any, stream: Any) -> Any:
        names = names_of(X)
        rows = array_of(X, self._speaker, "X")
        if rows.ndim == 0 or len(rows) == 0:
            raise refuse(self._speaker, "X must not be empty: it has 0 sample(s)" if rows.ndim else
                         f"X must be rows of numbers, got {X!r}")
        if "_buffers" not in self.__dict__:
            answers = None if y is None else np.atleast_1d(array_of(y, self._speaker, "y"))
            self._begin(dict(zip(names, rows[0])) if names else rows[0], None if answers is None else answers[0])
        self._check_names(names)
        self._check_target_names(names_of(y))
        x = self._rows(rows)
        target = None if y is None else self._encode_all([array_of(y, self._speaker, "y")], False)[0]
        if target is not None and len(target) != len(x):
            raise refuse(self._speaker, f"X and y must have as many rows, got {len(x)} and {len(target)}")
        if self._waiting:
            self._require_told(stream)
        out = np.empty((len(x), self.n_outputs_))
        for first in range(0, len(x), _ROWS_OF_A_CALL):
            part = slice(first, first + _ROWS_OF_A_CALL)
            self._observe_part(x[part], None if target is None else target[part], out[part], stream)
        return self._answers(out)

    def _observe_part(self, x: Array, target: Array | None, out: Array, stream: Any) -> None:
        inputs, targets = address(x), None if target is None else address(target)
        if not self.vocabulary:
            self._buffers.x.array[:] = x[0]
        slot = self._slot(stream, int(x[0]) if self.vocabulary else -1)
        _library.check(_library.library().tt_stream_observe_many(
            self._model.number, slot, len(x), None if self.vocabulary else inputs,
            inputs if self.vocabulary else None, None if self._labels else targets, targets if self._labels else None,
            address(out)))

    def _rows(self, rows: Array) -> Array:
        """[rows, features] of float32, or [rows] of tokens."""
        if self.vocabulary:
            tokens = tokens_of(rows, self._speaker)
            if tokens.ndim != 1:
                raise refuse(self._speaker, f"X must be [rows] of tokens, got shape {tokens.shape}")
            wrong = tokens[(tokens < 0) | (tokens >= self.vocabulary)]
            if wrong.size:  # else the rows before it would be learned
                raise refuse(self._speaker, f"a token must be between 0 and {self.vocabulary - 1}, got {wrong[0]}")
            return tokens
        x = numbers(rows, self._speaker, "X")
        if x.ndim != 2 or x.shape[1] != self.n_features_in_:
            raise refuse(self._speaker, f"X must be [rows, {self.n_features_in_}], got shape {x.shape}")
        return x

    @in_turn
    def _forecast(self, rows: Array) -> Array:
        """Answers [rows, outputs], each of which is the beginning of the row after it."""
        self._settle()
        slot = self._known_slot(None)
        slot = self._free_slot() if slot is None else slot
        if slot is None:
            raise refuse(self._speaker, "all places are taken by streams that have names")
        out = np.empty((len(rows), self.n_outputs_))
        _library.check(_library.library().tt_stream_forecast(self._model.number, slot, len(rows), address(rows),
                                                             address(out)))
        return out

    # ------------------------------------------------------------ answers that come late

    @in_turn
    def ask(self, x: Any, stream: Any = None) -> Any:
        """The prediction for a row whose answer comes later: the state moves on, the row waits for `tell`."""
        self._require_fitted()
        if "_buffers" not in self.__dict__:
            with self._first_row():
                self._settle()
                return self.ask(x, stream)
        if self._known_slot(stream) is not None and len(self._waiting.get(stream, ())) >= _MOST_WAITING:
            raise refuse(self._speaker, f"{_MOST_WAITING} rows of the stream wait for their answers, and no more can: "
                         "tell(y), or tell(None) where nobody knows")
        token = self._put(x)
        slot = self._slot(stream, token)
        buffers = self._buffers
        _library.check(_library.library().tt_stream_advance(self._model.number, slot, buffers.x.address, token,
                                                            buffers.answer_address))
        self._waiting.setdefault(stream, collections.deque()).append((buffers.x.array.copy(), token))
        return self._answer()

    @in_turn
    def tell(self, y: Any, stream: Any = None) -> Any:
        """The answer to the oldest row of the stream that waits for one."""
        if self._is_fitted():
            self._settle()
        known = self._is_fitted() and self._known_slot(stream) is not None
        waiting = self._waiting.get(stream) if known else None
        if waiting is None:
            raise refuse(self._speaker, "no row waits for its answer; ask puts one there")
        x, token = waiting[0]
        if not self.vocabulary:
            self._buffers.x.array[:] = x
        target, label = self._put_target(y)
        _library.check(_library.library().tt_stream_learn(self._model.number, self._slot(stream, token),
                                                          self._buffers.x.address, token, target, label))
        waiting.popleft()
        if not waiting:
            del self._waiting[stream]
        return self

    # ------------------------------------------------------------ ends

    @in_turn
    def reset(self, stream: Any = None) -> Any:
        """The stream ends: its next row begins another one, from the zero state. The weights stay."""
        if self._is_fitted() and self._live and self._known_slot(stream) is not None:
            _library.check(_library.library().tt_stream_reset(self._model.number, self._slots.pop(stream)))
            self._waiting.pop(stream, None)
        return self

    @property
    def updates_(self) -> int:
        """Updates of the weights so far, those of the fit before included."""
        return self._facts()[0]

    @property
    def stream_memory_(self) -> int:
        """Bytes of the tapes of the streams' method: constant, however long they are."""
        return self._facts()[1]

    @property
    def _raw_memory_usage(self) -> int:
        """Bytes that river's evaluation shows: those of the weights, and of the streams' method."""
        if not self._is_fitted():
            return 0
        return int(self._describe()["parameters"]) * 8 + (self._facts()[1] if self._live else 0)

    def _facts(self) -> tuple[int, int]:
        if not (self._is_fitted() and self._live):
            raise AttributeError("there is no stream yet: learn_one begins one")
        updates, size = c_int64(), c_int64()
        _library.check(_library.library().tt_stream_facts(self._model.number, byref(updates), byref(size)))
        return updates.value, size.value
