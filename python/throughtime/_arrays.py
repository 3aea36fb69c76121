"""What callers bring as arrays: made float32 and contiguous where it is not, and described to the library."""

from __future__ import annotations

import ctypes
import operator
from typing import Any, NamedTuple, Sequence

import numpy as np

from . import _library

Array = Any  # numpy.ndarray: its annotations differ between the versions that are served


class NotNumbers(ValueError, TypeError):
    """Bad input, as everywhere; scikit-learn asks for a TypeError where a number cannot be made of an object."""


def refuse(speaker: str, line: str) -> ValueError:
    return ValueError(f"[{speaker}] {line}")


def whole(value: Any, speaker: str, name: str, low: int, high: int = 2**31 - 1) -> int:
    """A whole number between two bounds: what the library's integers would silently make another one of is refused."""
    try:
        number = operator.index(value)
    except TypeError as error:
        raise refuse(speaker, f"{name} must be a whole number, got {value!r}") from error
    if not low <= number <= high:
        bound = f"at least {low}" if number < low else f"at most {high}"
        raise refuse(speaker, f"{name} must be {bound}, got {number}")
    return number


def whole_numbers(x: Any, kind: Any, speaker: str, name: str) -> Array:
    """The same for an array: contiguous, of that type of integers."""
    array = array_of(x, speaker, name)
    if array.size == 0:
        return np.ascontiguousarray(array, dtype=kind)
    if array.dtype.kind not in "iub":
        raise refuse(speaker, f"{name} must be whole numbers, got {array.dtype}")
    limits = np.iinfo(kind)
    for value in (int(array.min()), int(array.max())):
        if not limits.min <= value <= limits.max:
            raise refuse(speaker, f"{name} must be between {limits.min} and {limits.max}, got {value}")
    return np.ascontiguousarray(array, dtype=kind)


def as_array(x: Any) -> Array:
    """An array of anything: DLPack where the object has it, what NumPy makes of it else."""
    if isinstance(x, np.ndarray):
        return x
    if hasattr(x, "__dlpack__") and hasattr(np, "from_dlpack"):
        if hasattr(x, "detach"):
            x = x.detach()
        if hasattr(x, "cpu"):
            x = x.cpu()
        try:
            return np.from_dlpack(x)
        except (BufferError, RuntimeError, TypeError):  # a kind that DLPack does not know, truth values among them
            # NumPy has no bfloat16; all its numbers are float32's.
            return np.asarray(x.float() if str(getattr(x, "dtype", "")) == "torch.bfloat16" else x)
    if hasattr(x, "toarray") and hasattr(x, "nnz"):
        raise TypeError("sparse arrays are not read; use .toarray()")
    return np.asarray(x)


def array_of(x: Any, speaker: str, what: str) -> Array:
    """The same for what a caller brings: what cannot be one (rows of different lengths, say) is refused."""
    try:
        array = as_array(x)
    except (ValueError, TypeError, RuntimeError) as error:
        raise refuse(speaker, f"{what} must be an array of numbers: {error}") from error
    if array.dtype.kind == "U" and isinstance(x, (list, tuple)) and any(isinstance(each, (int, float)) for each in x):
        raise refuse(speaker, f"{what} must be of one kind, all texts or all numbers")
    return array


def unequal_lists(x: Any) -> Any:
    """Lists of different lengths, which no array can hold, as a list of arrays, and so an array or a column of a table whose
    entries are arrays; anything else as it is."""
    if getattr(getattr(x, "dtype", None), "kind", "") == "O" and getattr(x, "ndim", 0) == 1:
        entries = list(x)
        return entries if entries and all(getattr(each, "ndim", 0) >= 1 for each in entries) else x
    if isinstance(x, (list, tuple)) and all(isinstance(each, (list, tuple)) for each in x) and len(set(map(len, x))) > 1:
        try:
            return [np.asarray(each) for each in x]
        except ValueError:
            pass
    return x


def numbers(x: Any, speaker: str, what: str) -> Array:
    """float32 and contiguous: never copied where it is that already, once else."""
    array = array_of(x, speaker, what)
    if isinstance(array, np.ma.MaskedArray) and array.mask.any():
        raise refuse(speaker, f"{what} has masked entries; fill them, or leave their steps out")
    if array.dtype.kind == "c":
        raise refuse(speaker, f"{what}: Complex data not supported")
    if array.dtype.kind in "mM":
        raise refuse(speaker, f"{what} must be numbers, got times ({array.dtype})")
    if array.dtype.kind in "US":
        raise refuse(speaker, f"{what} must be numbers, got texts ({array.dtype})")
    if array.dtype.kind not in "fiub":
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError, OverflowError) as error:
            if any(type(each).__name__ == "NAType" for each in array.flat):  # of pandas
                raise refuse(speaker, f"{what} must be finite numbers: it has missing entries (NA)") from error
            if isinstance(error, TypeError):
                raise NotNumbers(f"[{speaker}] {what} must be numbers: {error}") from error
            raise refuse(speaker, f"{what} must be numbers, got {array.dtype}") from error
    with np.errstate(over="ignore"):
        result = np.ascontiguousarray(array, dtype=np.float32)
    # In double the sum of finite floats is finite, and no array of answers is made.
    with np.errstate(invalid="ignore"):
        finite = np.isfinite(np.sum(result, dtype=np.float64))
    if not finite:
        raise refuse(speaker, f"{what} must be finite numbers: it holds NaN or infinity, or numbers too large for float32")
    return result


def names_of(x: Any) -> list[str] | None:
    """Column names of a table (pandas and its kin)."""
    columns = getattr(x, "columns", None)
    if columns is None:
        return None
    names = list(columns)
    return names if names and all(isinstance(name, str) for name in names) else None


def common_names(tables: Any, speaker: str) -> list[str] | None:
    """The column names that tables share."""
    known = [(i, names) for i, names in enumerate(map(names_of, tables)) if names is not None]
    for i, names in known:
        if names != known[0][1]:
            raise refuse(speaker, f"all recordings of X must have the same columns in the same order: number {known[0][0]} has "
                         f"{', '.join(known[0][1][:10])}, number {i} has {', '.join(names[:10])}")
    return known[0][1] if known else None


def as_row(x: Any) -> Any:
    """A row of a table, which knows the names of its columns, as a dict; anything else as it is."""
    index = getattr(x, "index", None)
    if index is None or callable(index):  # a list can look for an entry
        return x
    names = list(index)
    return dict(zip(names, x)) if all(isinstance(name, str) for name in names) else x


class Inputs(NamedTuple):
    """Sequences of steps: each [steps, features] of float32, or [steps] of int32 tokens."""

    sequences: list[Array]
    recording: bool
    names: list[str] | None
    single: bool  # equal sequences that came as one array


def is_list_of_sequences(x: Any, rank: int) -> bool:
    if not isinstance(x, (list, tuple)) or len(x) == 0:
        return False
    return all(getattr(each, "ndim", None) == rank or getattr(each, "shape", None) is not None and len(each.shape) == rank
               for each in x)


def inputs_of(x: Any, speaker: str, vocabulary: int) -> Inputs:
    """[steps, features] is one recording, [sequences, steps, features] or a list of recordings are sequences. Of tokens
    the same without the features."""
    rank = 1 if vocabulary > 0 else 2
    x = unequal_lists(x)
    if is_list_of_sequences(x, rank):
        names = common_names(x, speaker)
        sequences = [one_sequence(each, speaker, vocabulary) for each in x]
        if len({each.shape[1:] for each in sequences}) > 1:
            raise refuse(speaker, "all sequences of X must have the same number of features, got "
                         + ", ".join(str(each.shape[1]) for each in sequences[:10]))
        return Inputs(sequences, False, names, False)
    array = array_of(x, speaker, "X")
    if array.ndim == rank:
        return Inputs([one_sequence(x, speaker, vocabulary)], True, names_of(x), True)
    if array.ndim == rank + 1:
        whole = tokens_of(array, speaker) if vocabulary > 0 else numbers(array, speaker, "X")
        require_not_empty(whole, speaker)
        return Inputs(list(whole), False, None, True)
    shapes = ("[steps] or [sequences, steps]" if vocabulary > 0
              else "[steps, features] or [sequences, steps, features]")
    raise refuse(speaker, f"X must be {shapes}, or a list of such recordings; got an array of {array.ndim} dimension"
                 f"{'' if array.ndim == 1 else 's'}. Reshape your data: a single feature is X.reshape(-1, 1), a single "
                 "step is X.reshape(1, -1)")


def one_sequence(x: Any, speaker: str, vocabulary: int) -> Array:
    array = tokens_of(array_of(x, speaker, "X"), speaker) if vocabulary > 0 else numbers(x, speaker, "X")
    require_not_empty(array, speaker)
    return array


def require_not_empty(array: Array, speaker: str) -> None:
    if 0 in array.shape:
        step = "0 sample(s)" if array.shape[0] == 0 else f"0 feature(s) (shape={array.shape}) while a minimum of 1 is required."
        raise refuse(speaker, f"X must not be empty: it has {step}")


def tokens_of(array: Array, speaker: str) -> Array:
    if array.dtype.kind not in "iu":
        raise refuse(speaker, f"tokens must be whole numbers, got {array.dtype}")
    return whole_numbers(array, np.int32, speaker, "tokens")


def names_array(names: Sequence[Any]) -> Array:
    """Names as an array of objects, whatever they are: one of pairs, say, would get a second dimension."""
    array = np.empty(len(names), dtype=object)
    for i, name in enumerate(names):
        array[i] = name
    return array


class Part(NamedTuple):
    """Sequences with what belongs to them; the lists are as long as `inputs`, or empty."""

    inputs: list[Array]
    targets: list[Array]  # float32 [steps, outputs] or [outputs], or int32 [steps] or [1]
    weights: list[Array]


class Data:
    """Arrays as the library sees them. Holds what it points to."""

    def __init__(self, shape: Sequence[int], parts: Sequence[Part], vocabulary: int, labels: bool) -> None:
        library = _library.library()
        self.parts = list(parts)
        self.handle = _library.new_handle(library.tt_data_new, *shape)
        for number, part in enumerate(self.parts):
            for i, inputs in enumerate(part.inputs):
                target = address(part.targets[i]) if part.targets else None
                _library.check(library.tt_data_add(
                    self.handle.number, number, inputs.shape[0],
                    None if vocabulary else address(inputs), address(inputs) if vocabulary else None,
                    target if labels else None, None if labels else target,
                    address(part.weights[i]) if part.weights else None))


def address(array: Array) -> int:
    return int(array.ctypes.data)


class StepBuffer:
    """A row of float32 numbers that calls on streams write into: its address is taken once."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.numbers = (ctypes.c_float * max(width, 1))()
        self.array = np.frombuffer(memoryview(self.numbers), dtype=np.float32)[:width]
        self.address = ctypes.addressof(self.numbers)
