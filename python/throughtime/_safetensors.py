"""Weights of safetensors files, whoever wrote them."""

from __future__ import annotations

import json
import os
import pathlib
import struct
from typing import Any, Mapping

import numpy as np

from ._arrays import Array, refuse
from ._library import path_of

_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1",
          "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1", "BOOL": "?"}
_LENGTH = 8  # bytes before the header, which say how long it is
_OURS = "throughtime."  # a file of ours has such arrays beside the weights: moments, scales, a stream


def weights_alone(arrays: Mapping[Any, Any]) -> dict[Any, Any]:
    """Without what a file of ours remembers beside the weights; only `load` and the command go on with that."""
    return {name: value for name, value in arrays.items() if not str(name).startswith(_OURS)}


def read_safetensors(path: Any) -> dict[str, Array]:
    """The weights of a safetensors file by their names, for `load_state_dict` and the parameter `weights`. BF16 becomes
    float32, which has all its numbers. A file of ours holds more than weights, which `load` reads."""
    content = pathlib.Path(os.fsdecode(path_of(path, "safetensors"))).read_bytes()
    try:
        size = struct.unpack("<Q", content[:_LENGTH])[0]
        if size > len(content) - _LENGTH:
            raise ValueError(f"its header claims {size} bytes, the file has {len(content)} in all")
        header = json.loads(content[_LENGTH:_LENGTH + size], object_pairs_hook=_without_twins)
        if not isinstance(header, dict):
            raise ValueError("its header is no object")
        data = content[_LENGTH + size:]
        return weights_alone({name: _array(name, entry, data) for name, entry in header.items() if name != "__metadata__"})
    except (struct.error, ValueError, RecursionError) as error:
        raise refuse("safetensors", f"{path} cannot be read: {error}") from error


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise ValueError("a name occurs twice")
    return result


def _is_counts(values: Any) -> bool:
    return isinstance(values, list) and all(type(value) is int and value >= 0 for value in values)


def _array(name: str, entry: Any, data: bytes) -> Array:
    if not isinstance(entry, dict) or not _is_counts(entry.get("shape")) or not _is_counts(entry.get("data_offsets")):
        raise ValueError(f"'{name}' needs dtype, shape and data_offsets, the last two lists of counts")
    kind, shape, offsets = entry.get("dtype"), entry["shape"], entry["data_offsets"]
    if not isinstance(kind, str) or kind not in _TYPES:
        raise ValueError(f"'{name}' has the dtype {kind!r}; known: {', '.join(_TYPES)}")
    if len(offsets) != 2 or not offsets[0] <= offsets[1] <= len(data):
        raise ValueError(f"'{name}' lies at bytes {offsets}, the data has {len(data)}")
    flat = np.frombuffer(data[offsets[0]:offsets[1]], dtype=_TYPES[kind])
    array = flat.reshape(shape).copy()  # so that it can be written to
    # A BF16 is the upper half of a float32.
    return (array.astype("<u4") << np.uint32(16)).view("<f4") if kind == "BF16" else array
