"""value[...] with whole numbers, slices, ... and None, as on NumPy arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import _core
from ._core import Value


def _expanded(key: Any, ndim: int) -> list[Any]:
    """One entry an axis (or None for a new one), the ellipsis written out."""
    entries = list(key) if isinstance(key, tuple) else [key]
    used = sum(entry is not None and entry is not Ellipsis for entry in entries)
    if used > ndim:
        raise IndexError(f"too many indices: the value has {ndim} dimensions, {used} were indexed")
    if any(entry is Ellipsis for entry in entries):
        at = next(i for i, entry in enumerate(entries) if entry is Ellipsis)
        entries[at : at + 1] = [slice(None)] * (ndim - used)
    else:
        entries += [slice(None)] * (ndim - used)
    return entries


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


def index(value: Value, key: Any) -> Value:
    """The part of a value that the key names."""
    axes: list[int] = []
    starts: list[int] = []
    stops: list[int] = []
    steps: list[int] = []
    dims: list[int] = []  # of the result
    axis = 0
    for entry in _expanded(key, value.ndim):
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
        options = {"axes": axes, "starts": starts, "stops": stops, "steps": steps}
        result = _core.build_op("slice", [value], options)[0]
    if tuple(dims) != result.shape:
        result = _core.build_op("reshape", [result], {"shape": dims})[0]
    return result
