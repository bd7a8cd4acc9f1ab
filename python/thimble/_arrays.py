"""Arrays of other libraries as NumPy arrays of thimble's element types, copied only if the element type
must change."""

from __future__ import annotations

import numbers
import reprlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

_NUMPY_NAMES = {
    "f32": "float32",
    "i32": "int32",
    "i8": "int8",
    "u8": "uint8",
    "u32": "uint32",
    "f16": "float16",
    "f64": "float64",
    "i64": "int64",
    "i16": "int16",
    "bool": "bool",
}


def as_array(x: Any) -> Array:
    """A NumPy array over x where that is possible: NumPy, PyTorch and whatever speaks DLPack, the
    buffer protocol or has .numpy(); else a copy."""
    if isinstance(x, np.ndarray):
        return x
    if hasattr(x, "detach"):  # a PyTorch tensor, possibly one that wants a gradient
        x = x.detach()
    if hasattr(x, "__dlpack__"):
        try:
            return np.from_dlpack(x)
        except (BufferError, RuntimeError, TypeError):
            pass
    if hasattr(x, "numpy"):
        if str(getattr(x, "dtype", "")) == "torch.bfloat16":  # NumPy has none; f32 holds its numbers
            x = x.float()
        return np.asarray(x.numpy())
    return np.asarray(x)


def whole(x: Array, target: str, what: str) -> Array:
    """x as integers of another type; an error where a number does not fit. i4 is held as int8."""
    low, high = (-8, 7) if target == "i4" else (np.iinfo(target).min, np.iinfo(target).max)
    if x.size and (x.min() < low or x.max() > high):
        raise ValueError(f"[{what}] holds whole numbers outside of {target}'s range, {low} to {high}")
    return x.astype(np.int8 if target == "i4" else target)


def to_dtype(x: Array, dtype: str, what: str) -> Array:
    """x as contiguous elements of one of thimble's types. Numbers of any type become floating point,
    to the nearest; whole numbers become another integer type where they fit; booleans come from
    booleans alone. An i4 is held as an int8 from -8 to 7, because NumPy has no smaller type."""
    if dtype not in _NUMPY_NAMES and dtype != "i4":
        raise ValueError(f"[{what}] arrays of {dtype} are not taken; let the graph take f32 or f16")
    target = _NUMPY_NAMES.get(dtype, dtype)
    if x.dtype != target:
        kind = "i" if target == "i4" else np.dtype(target).kind
        if x.dtype.kind not in "fiub" or kind == "b" or (kind in "iu" and x.dtype.kind == "f"):
            raise ValueError(f"[{what}] expected {target}, got an array of {x.dtype}")
        x = whole(x, target, what) if kind in "iu" else x.astype(target)
    return np.ascontiguousarray(x).reshape(x.shape)


def argument_of(x: Any, what: str, argument: str) -> Array:
    """x, an argument of an op, as an array of numbers of any type."""
    if isinstance(x, int) and not -(2**63) <= x < 2**63:
        x = float(x)
    takes = f"[{what}] {argument} must be a Value, an array of numbers or a number, got "
    try:
        array = as_array(x)
    except ValueError as error:  # lists of different lengths
        raise ValueError(takes + reprlib.repr(x)) from error
    if array.dtype.kind not in "fiub":
        given = f"an array of {array.dtype}" if hasattr(x, "dtype") else reprlib.repr(x)
        raise ValueError(takes + given)
    return array


def is_number(x: Any) -> bool:
    """Whether x is a number of Python or NumPy, which takes the type of what stands beside it."""
    return isinstance(x, numbers.Real)


def usual_dtype(x: Array, number: bool, beside: Sequence[str] = ()) -> str:
    """The type that an array has in a graph: its own where a Value beside it has that; else numbers
    (see is_number) and floating point are f32, booleans u8 (what masks are), and integers of 64 bits,
    NumPy's default, i32."""
    own = next((mine for mine, name in _NUMPY_NAMES.items() if name == x.dtype.name), None)
    if own in beside:
        return str(own)
    if number or x.dtype.kind == "f":
        return "f32"
    if x.dtype.kind == "b":
        return "u8"
    return "i32" if own is None or own == "i64" else own


def may_become(x: Array, dtype: str) -> bool:
    """Whether to_dtype takes arrays of x's type to another one."""
    kind = np.dtype(_NUMPY_NAMES[dtype]).kind if dtype in _NUMPY_NAMES else ""
    return kind == "f" or (kind in ("i", "u") and x.dtype.kind != "f") or kind == x.dtype.kind


def normalized(x: Any, what: str, argument: str = "the argument") -> Array:
    """x, an argument of an op, as an array of its usual type where no Value stands beside it."""
    array = argument_of(x, what, argument)
    return to_dtype(array, usual_dtype(array, is_number(x)), what)


def thimble_dtype(x: Array) -> str:
    """The name of an array's element type in graphs."""
    return next(mine for mine, name in _NUMPY_NAMES.items() if name == x.dtype.name)
