"""Modules of PyTorch, which is never imported here but to write into them: what comes in brings it along."""

from __future__ import annotations

import sys
from typing import Any, Mapping

import numpy as np

from ._arrays import Array, as_array, refuse
from ._models import Classifier, Regressor, sorted_labels

_LOSSES = {"regression": Regressor, "classification": Classifier}
_OF_MODULES = ("cell", "hidden", "layers", "dropout", "weights")  # parameters of an estimator that modules say


# ---------------------------------------------------------------- what modules are known


def _is_one_of(module: Any, *names: str) -> bool:
    """Exactly: a subclass may compute something else, and quantized modules have the same names."""
    torch = sys.modules.get("torch")
    return torch is not None and any(type(module) is getattr(torch.nn, name) for name in names)


def _kind(module: Any) -> str:
    """The name of a module's class, with its place unless that is torch.nn."""
    kind = type(module)
    own = kind.__module__.startswith("torch.nn.modules.")
    return kind.__name__ if own else f"{kind.__module__}.{kind.__qualname__}"


def _check_recurrent(rnn: Any) -> None:
    if not _is_one_of(rnn, "LSTM", "GRU", "RNN"):
        raise refuse("torch", f"the recurrent module must be an LSTM, a GRU or an RNN, got a {_kind(rnn)}")
    if rnn.bidirectional:
        raise refuse("torch", "bidirectional modules read a sequence from its end, which a stream does not have; "
                     "bidirectional must be False")
    if getattr(rnn, "proj_size", 0):
        raise refuse("torch", f"projected states are not known here (proj_size={rnn.proj_size}); it must be 0")
    if not rnn.bias:
        raise refuse("torch", "a module without biases is not known here (bias=False); with bias=True and zeros for them "
                     "it computes the same")


def _check_head(head: Any, width: int) -> None:
    if not _is_one_of(head, "Linear"):
        raise refuse("torch", f"the head must be a Linear module, got a {_kind(head)}")
    if head.bias is None:
        raise refuse("torch", "a head without a bias is not known here (bias=False); with bias=True and zeros for it it "
                     "computes the same")
    if head.in_features != width:
        raise refuse("torch", f"the head must read {width} numbers, it reads {head.in_features}")


def _check_embedding(embedding: Any, width: int) -> None:
    if not _is_one_of(embedding, "Embedding"):
        raise refuse("torch", f"the embedding must be an Embedding module, got a {_kind(embedding)}")
    if embedding.embedding_dim != width:
        raise refuse("torch", f"the recurrent module reads {width} numbers, the embedding has {embedding.embedding_dim}; "
                     "they must be as many")
    if embedding.max_norm is not None or embedding.scale_grad_by_freq:
        raise refuse("torch", "an Embedding with max_norm or scale_grad_by_freq is not known here; they must be None and "
                     "False")
    if embedding.padding_idx is not None:
        raise refuse("torch", f"every row of an Embedding is trained here (padding_idx={embedding.padding_idx}); it must "
                     "be None, and sequences of different lengths are a list")


def _names(part: str, module: Any) -> list[str]:
    """Of the parameters that a module has where nothing was done to it."""
    if part != "rnn":
        return ["weight", "bias"] if part == "head" else ["weight"]
    return [f"{name}_l{layer}" for layer in range(module.num_layers)
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]


def _parameters(modules: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of checked modules by the library's names for them."""
    result = {}
    for part, module in modules.items():
        found, wanted = module.state_dict(keep_vars=True), _names(part, module)
        if set(found) != set(wanted):
            raise refuse("torch", f"the parameters of '{part}' must be {', '.join(wanted)}, they are {', '.join(found)}; "
                         "take weight norm, pruning and the like off first")
        result.update({f"{part}.{name}": found[name] for name in wanted})
    for name, value in result.items():
        if value.device.type == "meta":
            raise refuse("torch", f"'{name}' is on the device meta, which has no numbers; move the module with "
                         "to_empty(device='cpu') and give it weights")
    _check_shared(result)
    return result


def _check_shared(parameters: Mapping[str, Any]) -> None:
    """Weights that are one tensor would be two here, but for a tied head's."""
    owners: dict[int, str] = {}
    for name, value in parameters.items():
        owner = owners.setdefault(value.data_ptr(), name)
        if owner != name and {owner, name} != {"head.weight", "embedding.weight"}:
            raise refuse("torch", f"'{owner}' and '{name}' are one tensor; only the weights of head and embedding may be")


def _checked(rnn: Any, head: Any, embedding: Any) -> tuple[dict[str, Any], bool]:
    """The parameters of the modules, and whether the head is tied to the embedding."""
    _check_recurrent(rnn)
    _check_head(head, rnn.hidden_size)
    modules = {"rnn": rnn, "head": head}
    if embedding is not None:
        _check_embedding(embedding, rnn.input_size)
        modules["embedding"] = embedding
    parameters = _parameters(modules)
    tied = embedding is not None and parameters["head.weight"].data_ptr() == parameters["embedding.weight"].data_ptr()
    return parameters, tied


# ---------------------------------------------------------------- from modules


def _array_of(name: str, value: Any) -> Array:
    try:
        return np.array(as_array(value))  # a copy: the modules may go on without it
    except (ValueError, TypeError, RuntimeError) as error:
        raise refuse("torch", f"'{name}' must be a tensor of numbers: {error}") from error


def _check_said_once(parameters: Mapping[str, Any], embedding: Any) -> None:
    """What the modules say is nobody else's to say."""
    for name in _OF_MODULES + (("vocabulary",) if embedding is not None else ()):
        if name in parameters:
            raise refuse("torch", f"{name} is said by the modules; leave it out here")
    for key in ("model.embedding", "model.tied"):
        if key in (parameters.get("options") or {}):
            raise refuse("torch", f"options: {key} is said by the module that is the parameter embedding")
    if parameters.get("standardise"):
        raise refuse("torch", "the weights are for numbers as the modules saw them; standardise must be False, and X and y "
                     "as they were there")


def _in_order_of_classes(weights: dict[str, Array], classes: Any, tied: bool) -> dict[str, Array]:
    """The rows of the head belong to `classes` as they are listed, those of a model to its sorted `classes_`."""
    _, rows = sorted_labels(classes)
    outputs = len(weights["head.bias"])
    if len(rows) != outputs:
        raise refuse("torch", f"the weights are for {outputs} classes, got {len(rows)}")
    if tied and (np.diff(rows) < 0).any():
        raise refuse("torch", "a tied head has a row for each token; classes must be in ascending order")
    return {name: value[rows] if name.startswith("head.") else value for name, value in weights.items()}


def from_torch(rnn: Any, head: Any, embedding: Any = None, loss: str = "regression", classes: Any = None,
               targets: str = "auto", **parameters: Any) -> Any:
    """An estimator with the weights of modules of torch.nn: an LSTM, GRU or RNN of any depth, a Linear head, and an
    Embedding where the inputs are tokens (tied, where the head has the same weight). `loss` is "regression" or
    "classification", with a label in `classes` for each row of the head, in that order; `parameters` are those of the
    Regressor or Classifier that comes back. It can predict at once, and `fit` begins with these weights, which are its
    parameter `weights`."""
    if loss not in _LOSSES:
        raise refuse("torch", f"loss must be one of {', '.join(_LOSSES)}, got {loss!r}")
    _check_said_once(parameters, embedding)
    tensors, tied = _checked(rnn, head, embedding)
    weights = {name: _array_of(name, value) for name, value in tensors.items() if not (tied and name == "head.weight")}
    options = dict(parameters.pop("options", None) or {})
    if embedding is not None:
        options.update({"model.embedding": embedding.embedding_dim, "model.tied": tied})
        parameters["vocabulary"] = embedding.num_embeddings
    elif parameters.get("vocabulary", 0) not in (0, rnn.input_size):
        raise refuse("torch", f"without an embedding the module reads one-hot tokens: vocabulary must be {rnn.input_size}, "
                     f"got {parameters['vocabulary']}")
    if loss == "classification":
        if head.out_features < 2:
            raise refuse("torch", "the head must have an output for each of two or more classes, it has 1")
        parameters["classes"] = list(range(head.out_features)) if classes is None else list(classes)
        weights = _in_order_of_classes(weights, parameters["classes"], tied)
    elif classes is not None:
        raise refuse("torch", "classes are for loss='classification'")
    model = _LOSSES[loss](cell=rnn.mode.lower(), hidden=rnn.hidden_size, layers=rnn.num_layers,
                          dropout=float(rnn.dropout) if rnn.num_layers > 1 else 0.0, targets=targets, options=options or None,
                          weights=weights, **parameters)
    model._begin_with_weights(1 if model.vocabulary else rnn.input_size, head.out_features, targets == "sequence")
    return model


# ---------------------------------------------------------------- into modules


def _check_is_whole(state: Mapping[str, Any], parameters: Mapping[str, Any]) -> None:
    """Each weight of the model has its place, and each parameter of the modules its weight, in the same shape."""
    alone = [name for name in state if name not in parameters]
    if alone:
        raise refuse("torch", f"the model has {', '.join(f'{name!r}' for name in alone)}, which the modules have not; "
                     "to_torch needs all modules of the model: rnn, head, and for tokens embedding, as deep as it is")
    for name, parameter in parameters.items():
        shape = list(state[name].shape) if name in state else None
        if shape != list(parameter.shape):
            raise refuse("torch", f"'{name}' of the module has the shape {list(parameter.shape)}, the model's "
                         f"{shape if shape is not None else 'is not there'}")


def _check_writable(parameters: Mapping[str, Any]) -> None:
    import torch

    for name, parameter in parameters.items():
        if parameter.is_inference() and not torch.is_inference_mode_enabled():
            raise refuse("torch", f"'{name}' of the module was made in inference mode, where alone it can be written to; "
                         "make the module outside of it")
        if parameter.dtype not in (torch.float32, torch.float64):
            raise refuse("torch", f"'{name}' of the module is {parameter.dtype}, which would round the weights; make it "
                         "float() first, and small again afterwards")
        if any(stride == 0 and size > 1 for stride, size in zip(parameter.stride(), parameter.shape)):
            raise refuse("torch", f"'{name}' of the module has several numbers in one place (expand); give it a clone()")


def to_torch(model: Any, rnn: Any, head: Any = None, embedding: Any = None) -> None:
    """Writes the weights of a fitted model into modules of the same shapes: all of them, or none where they do not fit.
    The rows of a classifier's head are in the order of its parameter `classes`, where it has one."""
    state = model.state_dict()
    if head is None:
        raise refuse("torch", "to_torch needs the module of the head, too: head=")
    parameters, tied = _checked(rnn, head, embedding)
    cells = [model.cell] if isinstance(model.cell, str) else list(model.cell)
    if set(cells) != {rnn.mode.lower()}:
        raise refuse("torch", f"the model's cell is {', '.join(cells)}, the module is a {_kind(rnn)}"
                     f"{f' ({rnn.nonlinearity})' if _is_one_of(rnn, 'RNN') else ''}")
    if model._has_scales:
        raise refuse("torch", "the model sees scaled numbers (standardise=True), and modules have no scales; train it with "
                     "standardise=False on numbers that are scaled already")
    state = _in_order_of_modules(model, state, tied)
    _check_is_whole(state, parameters)
    _check_writable(parameters)
    _write(state, parameters)


def _in_order_of_modules(model: Any, state: dict[str, Array], tied: bool) -> dict[str, Array]:
    """Weights as the modules have them: the head's rows in their order, and a tied weight under both of its names."""
    of_model = "head.weight" not in state  # is tied
    if tied and not of_model and "embedding.weight" in state:
        raise refuse("torch", "the modules share one weight, the model has one for its head and one for its embedding; "
                     "head.weight must be a parameter of its own")
    rows = model._rows_of_head()
    if rows is not None:
        if of_model:
            raise refuse("torch", "a tied head has a row for each token; classes must be in ascending order")
        state = {name: value[np.argsort(rows)] if name.startswith("head.") else value for name, value in state.items()}
    return {**state, "head.weight": state["embedding.weight"]} if of_model else state


def _write(state: Mapping[str, Array], parameters: Mapping[str, Any]) -> None:
    import torch

    with torch.no_grad():
        for name, value in state.items():
            parameters[name].copy_(torch.from_numpy(np.ascontiguousarray(value)))
