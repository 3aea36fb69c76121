"""Modules of PyTorch, which is never imported here: what comes in brings it along."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._arrays import as_array, refuse
from ._models import Classifier, Regressor

_LOSSES = {"regression": Regressor, "classification": Classifier}


def _cell_of(rnn: Any) -> str:
    kind = type(rnn).__name__
    if kind == "RNN":
        return f"rnn_{rnn.nonlinearity}"
    if kind in ("LSTM", "GRU"):
        return kind.lower()
    raise refuse("torch", f"the recurrent module must be an LSTM, a GRU or an RNN, got a {kind}")


def _check_recurrent(rnn: Any) -> None:
    _cell_of(rnn)
    if rnn.bidirectional:
        raise refuse("torch", "bidirectional modules read a sequence from its end, which a stream does not have")
    if getattr(rnn, "proj_size", 0):
        raise refuse("torch", f"projected states are not known here (proj_size={rnn.proj_size})")
    if not rnn.bias:
        raise refuse("torch", "a module without biases is not known here (bias=False)")


def _check_head(head: Any, width: int) -> None:
    if type(head).__name__ != "Linear":
        raise refuse("torch", f"the head must be a Linear module, got a {type(head).__name__}")
    if head.bias is None:
        raise refuse("torch", "a head without a bias is not known here (bias=False)")
    if head.in_features != width:
        raise refuse("torch", f"the head must read {width} numbers, it reads {head.in_features}")


def _weights(rnn: Any, head: Any, embedding: Any, tied: bool) -> dict[str, Any]:
    state = {f"rnn.{name}": value for name, value in rnn.state_dict().items()}
    if not tied:
        state["head.weight"] = head.state_dict()["weight"]
    state["head.bias"] = head.state_dict()["bias"]
    if embedding is not None:
        state["embedding.weight"] = embedding.state_dict()["weight"]
    return {name: np.array(as_array(value)) for name, value in state.items()}  # the modules may go on without it


def from_torch(rnn: Any, head: Any, embedding: Any = None, loss: str = "regression", classes: Any = None,
               targets: str = "auto", **parameters: Any) -> Any:
    """An estimator with the weights of modules of torch.nn: an LSTM, GRU or RNN of any depth, a Linear head, and an
    Embedding where the inputs are tokens (tied, where the head has the same weight). `loss` is "regression" or
    "classification"; `parameters` are those of the Regressor or Classifier that comes back. It can predict at once, and
    `fit` begins with these weights, which are its parameter `weights`."""
    if loss not in _LOSSES:
        raise refuse("torch", f"loss must be one of {', '.join(_LOSSES)}, got {loss!r}")
    _check_recurrent(rnn)
    _check_head(head, rnn.hidden_size)
    tied = embedding is not None and head.weight is embedding.weight
    options = dict(parameters.pop("options", None) or {})
    if embedding is not None:
        options.update({"model.embedding": embedding.embedding_dim, "model.tied": tied})
        parameters["vocabulary"] = embedding.num_embeddings
    if loss == "classification":
        parameters["classes"] = list(range(head.out_features)) if classes is None else list(classes)
    elif classes is not None:
        raise refuse("torch", "classes are for loss='classification'")
    model = _LOSSES[loss](cell=_cell_of(rnn), hidden=rnn.hidden_size, layers=rnn.num_layers,
                          dropout=float(rnn.dropout) if rnn.num_layers > 1 else 0.0, targets=targets, options=options or None,
                          weights=_weights(rnn, head, embedding, tied), **parameters)
    model._begin_with_weights(1 if embedding is not None else rnn.input_size, head.out_features, targets == "sequence")
    return model


def to_torch(model: Any, rnn: Any, head: Any = None, embedding: Any = None) -> None:
    """Writes the weights of a fitted model into modules of the same shapes."""
    import torch

    state = model.state_dict()
    wanted = {f"rnn.{name}": value for name, value in rnn.named_parameters()}
    if _cell_of(rnn) != model.cell:
        raise refuse("torch", f"the model's cell is {model.cell}, the module is a {type(rnn).__name__}")
    for name, module in (("head", head), ("embedding", embedding)):
        if module is not None:
            wanted.update({f"{name}.{key}": value for key, value in module.named_parameters()
                           if f"{name}.{key}" in state})
    for name, parameter in wanted.items():
        if name not in state or tuple(state[name].shape) != tuple(parameter.shape):
            raise refuse("torch", f"'{name}' of the module has the shape {list(parameter.shape)}, the model's "
                         f"{list(state[name].shape) if name in state else 'is not there'}")
    with torch.no_grad():
        for name, parameter in wanted.items():
            parameter.copy_(torch.from_numpy(np.ascontiguousarray(state[name])))
