"""A fitted model as numbers and as a file: weights by their names, safetensors, pickles."""

from __future__ import annotations

import copy
import json
import os
import pathlib
import tempfile
from typing import Any, Mapping

import numpy as np

from . import _library
from ._arrays import Array, address, as_array, refuse
from ._safetensors import weights_alone
from ._turns import Turns, in_turn


class Weights(Turns):
    """What an estimator has beside `fit`: it owns a model, and says whether it is fitted."""

    _speaker = "throughtime"
    _model: Any
    _live: bool  # whether the library's model has streams
    _slots: dict[Any, int]  # of each stream its place there
    _waiting: dict[Any, Any]  # of each stream the rows that wait for their answers
    _made_for: tuple[Any, Any]  # the engine and the threads that the library's model computes with

    # Fitted state that pickles and files keep, beside the model itself.
    _kept = ("n_features_in_", "feature_names_in_", "n_outputs_", "memory_", "history_", "classes_", "n_iter_",
             "_one_target", "_flat_target", "_target_names", "_slots", "_waiting", "_numbers", "_stream_text",
             "_has_scales", "_made_for")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        raise NotImplementedError

    def _is_fitted(self) -> bool:
        raise NotImplementedError

    def _require_fitted(self) -> None:
        raise NotImplementedError

    def _describe(self) -> dict[str, Any]:
        raise NotImplementedError

    # ------------------------------------------------------------ weights

    @in_turn
    def state_dict(self) -> dict[str, Array]:
        """The weights by PyTorch's names and in its layouts."""
        description = self._describe()
        values = np.empty(description["parameters"])
        _library.check(_library.library().tt_model_get_parameters(self._model.number, address(values), values.size))
        result = {}
        for block in description["blocks"]:
            size = int(np.prod(block["shape"]))
            part = values[block["offset"]:block["offset"] + size].reshape(block["shape"])
            narrow = part.astype(np.float32)
            result[block["name"]] = narrow if (narrow == part).all() else part.copy()
        return result

    @in_turn
    def load_state_dict(self, state: Mapping[str, Any]) -> Any:
        """Puts weights in the place of the model's; all of them, by their names. Streams end."""
        description = self._describe()
        values = np.empty(description["parameters"])
        blocks = {block["name"]: block for block in description["blocks"]}
        arrays = self._own_weights(state, blocks)
        for name, block in blocks.items():
            array = arrays[name]
            if list(array.shape) != block["shape"]:
                raise refuse(self._speaker, f"'{name}' must have the shape {block['shape']}, got {list(array.shape)}")
            values[block["offset"]:block["offset"] + array.size] = array.ravel()
        _library.check(_library.library().tt_model_set_parameters(self._model.number, address(values), values.size))
        self._end_streams()
        return self

    def _own_weights(self, state: Any, blocks: Mapping[str, Any]) -> dict[str, Array]:
        """The weights of a state as double arrays: those of the model's blocks, all of them and no others."""
        if not isinstance(state, Mapping):
            raise refuse(self._speaker, f"the weights must be a dict of arrays, got a {type(state).__name__}")
        arrays = {name: self._weight(name, value) for name, value in weights_alone(state).items()}
        if "head.weight" not in blocks and "embedding.weight" in blocks and "head.weight" in arrays:
            head, embedding = arrays.pop("head.weight"), arrays.get("embedding.weight")  # PyTorch names a tied weight twice
            if embedding is not None and not np.array_equal(head, embedding):
                raise refuse(self._speaker, "the model's head is tied: 'head.weight' must have the numbers of "
                             "'embedding.weight', or be left out")
        unknown = [str(name) for name in arrays if name not in blocks]
        missing = [name for name in blocks if name not in arrays]
        if unknown or missing:
            raise refuse(self._speaker, f"the weights of the model are {', '.join(blocks)}; missing: "
                         f"{', '.join(missing) or 'none'}, unknown: {', '.join(unknown) or 'none'}")
        return arrays

    def _weight(self, name: Any, value: Any) -> Array:
        try:
            array = as_array(value)
            if array.dtype.kind == "c":
                raise TypeError("it holds complex numbers")
            return np.asarray(array, dtype=np.float64)
        except (ValueError, TypeError, RuntimeError) as error:
            raise refuse(self._speaker, f"'{name}' must be an array of numbers: {error}") from error

    def _end_streams(self) -> None:
        self._live = False
        self._slots = {}
        self._waiting = {}
        self.__dict__.pop("_buffers", None)

    def to_torch(self, rnn: Any, head: Any = None, embedding: Any = None) -> None:
        """Writes the weights into modules of torch.nn of the same shapes."""
        from ._torch import to_torch

        to_torch(self, rnn, head, embedding)

    # ------------------------------------------------------------ files

    def _note(self) -> dict[str, Any]:
        import base64
        import pickle

        state = {name: getattr(self, name) for name in self._kept if hasattr(self, name)}
        params = {**self.get_params(deep=False), "weights": None}  # a header of the file has no room for as many numbers
        blob = pickle.dumps((params, state, self._live))
        return {"class": type(self).__name__, "state": base64.b64encode(blob).decode()}

    @in_turn
    def save(self, path: Any) -> None:
        """Writes a safetensors file: the weights by their names, and all that `load` needs to go on, a stream included.
        It has the weights as they are; those that `fit` began with, the parameter `weights`, are None when it is loaded.
        Like a pickle it may only be loaded from those whom you trust."""
        self._require_fitted()
        _library.check(_library.library().tt_model_save(self._model.number, _library.path_of(path, "save"),
                                                        json.dumps(self._note()).encode()))

    @classmethod
    def load(cls, path: Any) -> Any:
        """What `save` wrote."""
        model = _library.new_handle(_library.library().tt_model_load, _library.path_of(path, "load"))
        note = _library.text(_library.library().tt_model_note, model.number)
        return _restored(cls, model, note, str(path))

    @in_turn
    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in vars(self).items() if name not in ("_model", "_buffers")}
        if self._is_fitted():
            for name in ("_slots", "_waiting"):  # copy.copy would share them
                state[name] = copy.deepcopy(state[name])
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "model"
                _library.check(_library.library().tt_model_save(self._model.number, os.fsencode(path), b""))
                state["_bytes"] = path.read_bytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        content = state.pop("_bytes", None)
        self.__dict__.update(state)
        if content is not None:
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "model"
                path.write_bytes(content)
                self._model = _library.new_handle(_library.library().tt_model_load, os.fsencode(path))


def _restored(cls: Any, model: Any, note: str, path: str) -> Any:
    import base64
    import pickle

    try:
        document = json.loads(note)
        params, state, live = pickle.loads(base64.b64decode(document["state"]))
    except (ValueError, KeyError, pickle.UnpicklingError) as error:
        raise ValueError(f"[load] {path} was not saved by Python: it does not say which estimator it is") from error
    if document["class"] != cls.__name__:
        raise ValueError(f"[load] {path} holds a {document['class']}; load it with {document['class']}.load")
    estimator = cls(**params)
    estimator.__dict__.update(state)
    estimator._model = model
    estimator._live = live
    return estimator
