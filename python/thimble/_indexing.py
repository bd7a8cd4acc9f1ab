"""value[...] with whole numbers, slices, ..., None and arrays of indices, as on NumPy arrays."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from . import ops
from ._arrays import Array
from ._calls import constant
from ._core import Value


def _expanded(key: Any, shape: tuple[int, ...]) -> list[Any]:
    """One entry an axis (or None for a new one), the ellipsis and masks written out."""
    entries = [_entry(entry) for entry in (key if isinstance(key, tuple) else (key,))]
    widths = [
        0 if entry is None or entry is Ellipsis else entry.ndim if _is_mask(entry) else 1
        for entry in entries
    ]
    used = sum(widths)
    if used > len(shape):
        raise IndexError(
            f"too many indices: the value has {len(shape)} dimensions, {used} were indexed"
        )
    ellipses = sum(entry is Ellipsis for entry in entries)
    if ellipses > 1:
        raise IndexError("an index has at most one ellipsis")
    rest = [slice(None)] * (len(shape) - used)
    expanded: list[Any] = []
    axis = 0
    for entry, width in zip(entries, widths):
        if entry is Ellipsis:
            expanded += rest
            axis += len(rest)
            continue
        expanded += _places(entry, shape[axis : axis + width], axis) if _is_mask(entry) else [entry]
        axis += width
    return expanded if ellipses else expanded + rest


def _entry(entry: Any) -> Any:
    """An entry of a key as one of those that are understood: arrays instead of lists."""
    if isinstance(entry, Value):
        if entry.dtype == "i32":
            return entry
        raise IndexError(
            f"a value that indexes must be of type i32, got {entry.dtype}; the shape of what a "
            "mask picks would depend on values: use where or multiply"
        )
    if isinstance(entry, (list, np.ndarray)):
        array: Array = np.asarray(entry)
        if array.size == 0 and isinstance(entry, list):
            array = array.astype(np.int32)
        if array.dtype.kind not in "iub":
            raise IndexError(f"indices must be whole numbers, got an array of {array.dtype}")
        if array.ndim > 0 or array.dtype.kind != "b":
            return array
    is_bool = isinstance(entry, (bool, np.bool_, np.ndarray))
    known = entry is None or entry is Ellipsis or isinstance(entry, slice)
    if is_bool or not (known or hasattr(entry, "__index__")):
        raise IndexError(
            "indices are whole numbers, slices, ..., None, arrays of whole numbers, or masks of the "
            f"value's sizes, got {entry!r}"
        )
    return entry


def _is_mask(entry: Any) -> bool:
    return isinstance(entry, np.ndarray) and entry.dtype.kind == "b"


def _places(mask: Array, sizes: tuple[int, ...], axis: int) -> list[Array]:
    """The indices of a mask's ones, an array an axis."""
    if any(size < 0 for size in sizes):
        raise IndexError("the open batch cannot be indexed; only ':' stands for it")
    if mask.shape != sizes:
        raise IndexError(f"a mask of shape {mask.shape} does not fit {sizes} from axis {axis} on")
    return list(np.nonzero(mask))


def length(value: Value) -> int:
    """len(value): its first size, which the batch has not."""
    if value.ndim == 0:
        raise TypeError("len() of a single number")
    if value.shape[0] < 0:
        raise TypeError("the length of the open batch is not known")
    return value.shape[0]


def rows(value: Value) -> Iterator[Value]:
    """The parts along the first axis."""
    return iter([index(value, i) for i in range(length(value))])


def _is_array(entry: Any) -> bool:
    return isinstance(entry, (Value, np.ndarray))


def _numbers(entry: Any, axis: int, size: int) -> Any:
    """Indices along an axis, none negative: an array, or a value as f32."""
    if not isinstance(entry, Value):
        array: Array = np.asarray(entry)
        if array.size and not (-size <= array.min() and array.max() < size):
            raise IndexError(f"an index is out of bounds for axis {axis} of size {size}")
        return np.where(array < 0, array + size, array)
    number = ops.cast(entry, "f32")
    negative = ops.lt(number, 0.0)
    moved = ops.affine(number, shift=float(size))
    return ops.where(negative, moved, number)


def _flat(value: Value, entries: list[Any], places: list[int]) -> tuple[Value, tuple[int, ...]]:
    """The places of the picked parts when the indexed axes are one, and the shape of the indices."""
    graph, flat, step = value.graph, None, 1
    for entry, place in reversed(list(zip(entries, places))):
        size = value.shape[place]
        number = _numbers(entry, place, size)
        if isinstance(number, Value):
            number = ops.affine(number, scale=float(step))
        else:
            number = number * step
        if flat is None:
            flat = number
        else:  # beside a value as f32, which holds these numbers exactly
            mixed = isinstance(flat, Value) != isinstance(number, Value)
            flat, number = (
                x if isinstance(x, Value) or not mixed else np.asarray(x, np.float32)
                for x in (flat, number)
            )
            flat = flat + number
        step *= size
    if not isinstance(flat, Value):
        flat = np.asarray(flat)
        return constant(graph, flat.reshape(-1).astype(np.int32), "index"), flat.shape
    if step >= 2**24:
        raise IndexError("values index at most 16,777,216 elements of several axes together")
    whole = ops.cast(flat, "i32")
    return ops.reshape(whole, -1), flat.shape


def _picked(value: Value, entries: list[Any]) -> Value:
    """With arrays among the entries; numbers beside them count as arrays."""
    is_array = [_is_array(entry) or hasattr(entry, "__index__") for entry in entries]
    value = index(value, tuple(slice(None) if a else e for e, a in zip(entries, is_array)))
    places = [i for i, array in enumerate(is_array) if array]
    rest = [i for i in range(value.ndim) if i not in places]
    if any(value.shape[place] < 0 for place in places):
        raise IndexError("the open batch cannot be indexed; only ':' stands for it")
    flat, shape = _flat(value, [entries[place] for place in places], places)
    lines = ops.transpose(value, places + rest)
    sizes = [value.shape[i] for i in rest]
    together = math.prod(value.shape[place] for place in places)
    lines = ops.reshape(lines, (together, *sizes))
    result = ops.index_select(lines, flat, axis=0)
    result = ops.reshape(result, (*shape, *sizes))
    # Where the arrays stand side by side, their axes stay there; else they come first.
    first = places[0] if places[-1] - places[0] == len(places) - 1 else 0
    new, old = list(range(len(shape))), list(range(len(shape), result.ndim))
    return ops.transpose(result, old[:first] + new + old[first:])


def index(value: Value, key: Any) -> Value:
    """The part of a value that the key names."""
    entries = _expanded(key, value.shape)
    if any(_is_array(entry) for entry in entries):
        return _picked(value, entries)
    axes: list[int] = []
    starts: list[int] = []
    stops: list[int] = []
    steps: list[int] = []
    dims: list[int] = []  # of the result
    axis = 0
    for entry in entries:
        if entry is None:
            dims.append(1)
            continue
        size = value.shape[axis]
        if entry == slice(None):
            dims.append(size)
        elif size < 0:
            raise IndexError("the open batch cannot be indexed; only ':' stands for it")
        elif isinstance(entry, slice):
            start, stop, step = entry.indices(size)
            if step < 1:
                raise IndexError("slices with a negative step are not supported")
            axes.append(axis)
            starts.append(start)
            stops.append(max(start, stop))
            steps.append(step)
            dims.append(len(range(start, stop, step)))
        else:
            number = entry.__index__()
            if not -size <= number < size:
                raise IndexError(f"index {number} is out of bounds for axis {axis} of size {size}")
            number %= size
            axes.append(axis)
            starts.append(number)
            stops.append(number + 1)
            steps.append(1)
        axis += 1
    result = value
    if axes:
        result = ops.slice(value, axes=axes, starts=starts, stops=stops, steps=steps)
    if tuple(dims) != result.shape:
        result = ops.reshape(result, dims)
    return result
