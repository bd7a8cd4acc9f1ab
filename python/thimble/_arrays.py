"""Arrays of other libraries as NumPy arrays of thimble's element types, copied only if the element type
must change."""

from __future__ import annotations

import functools
import importlib
import numbers
import reprlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# The types that arrays may have in a graph.
ELEMENT_TYPES = ("f32", "f64", "f16", "i64", "i32", "i16", "i8", "u32", "u8", "bool")

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


# What NumPy itself makes of bfloat16, where it loads a file of it, say: two bytes without arithmetic.
_TWO_BYTES = np.dtype("V2")


@functools.cache
def bfloat16() -> np.dtype[Any]:
    """NumPy's type of arrays of bf16, which thimble gives: that of the package ml_dtypes, or two bytes."""
    try:
        made: np.dtype[Any] = np.dtype(importlib.import_module("ml_dtypes").bfloat16)
    except ImportError:
        return _TWO_BYTES
    return made


def is_bfloat16(x: Array) -> bool:
    return x.dtype.name == "bfloat16" or x.dtype == _TWO_BYTES


def bits_of(x: Array) -> Array:
    """The bits of an array of bfloat16."""
    return np.ascontiguousarray(x).view(np.uint16).reshape(x.shape)


def held_array(x: Any) -> Array:
    """A NumPy array over x where that is possible: NumPy, PyTorch and whatever speaks DLPack, the
    buffer protocol or has .numpy(); else a copy. bfloat16 stays bfloat16."""
    if isinstance(x, np.ndarray):
        return x
    if hasattr(x, "detach"):  # a PyTorch tensor, possibly one that wants a gradient
        x = x.detach()
    if str(getattr(x, "dtype", "")) == "torch.bfloat16":  # as which PyTorch gives NumPy nothing
        return held_array(x.view(importlib.import_module("torch").int16)).view(bfloat16())
    if hasattr(x, "__dlpack__"):
        try:
            return np.from_dlpack(x)
        except (BufferError, RuntimeError, TypeError):
            pass
    if hasattr(x, "numpy"):
        return np.asarray(x.numpy())
    return np.asarray(x)


def as_array(x: Any) -> Array:
    """The same, but of bfloat16 the numbers in float32, which holds them."""
    array = held_array(x)
    if not is_bfloat16(array):
        return array
    wide = np.zeros(array.shape, np.uint32)
    wide[...] = bits_of(array)
    wide <<= np.uint32(16)
    return wide.view(np.float32)


class LossyError(ValueError):
    """A conversion would change numbers."""

    def __init__(self, what: str, reason: str) -> None:
        super().__init__(f"[{what}] {reason}")
        self.reason = reason


def whole(x: Array, target: str, what: str) -> Array:
    """x as integers of another type; an error where a number does not fit. i4 is held as int8."""
    low, high = (-8, 7) if target == "i4" else (np.iinfo(target).min, np.iinfo(target).max)
    if x.size and (x.min() < low or x.max() > high):
        raise LossyError(what, f"holds whole numbers outside of {target}'s range, {low} to {high}")
    return x.astype(np.int8 if target == "i4" else target)


def _same_number(whole_number: Array, real: Array) -> Any:
    """Whether every integer is the number of the floating-point array beside it."""
    wide = real.astype(np.float64)
    low, high = np.iinfo(whole_number.dtype).min, np.iinfo(whole_number.dtype).max
    # The highest number of 64 bits rounds up, to one that is out of range.
    inside = (wide >= float(low)) & (wide < float(high) + (0.0 if high > 2**53 else 1.0))
    return inside & (np.where(inside, wide, 0.0).astype(whole_number.dtype) == whole_number)


def _real(x: Array, target: str, what: str, rounds: bool) -> Array:
    """x as floating point. Floating point is rounded to the nearest number; one too large for the
    type is an error. So are whole numbers that the type does not have, unless they may be rounded."""
    with np.errstate(over="ignore"):
        y: Array = x.astype(target)
    if x.dtype.kind == "f":
        if y.dtype.itemsize < x.dtype.itemsize:
            _refuse(np.isfinite(x) & ~np.isfinite(y), x, what, f"is too large for {target}")
        return y
    if x.dtype.kind == "b":
        return y
    digits = np.finfo(target).nmant + 1
    exact = 2**digits
    if x.dtype.itemsize * 8 <= digits or not x.size or (x.min() >= -exact and x.max() <= exact):
        return y
    wrong = ~np.isfinite(y) if rounds else ~_same_number(x, y)
    _refuse(wrong, x, what, f"is not a number of {target}; its whole numbers are exact to {exact}")
    return y


def _refuse(wrong: Any, x: Array, what: str, why: str) -> None:
    if np.any(wrong):
        raise LossyError(what, f"holds {x[wrong].flat[0]!s} of {x.dtype}, which {why}")


def _bf16(x: Array, what: str, rounds: bool) -> Array:
    """x as the bits of bf16, to the nearest, ties to even, by way of f32; uint16 are such bits
    already."""
    if is_bfloat16(x):
        return bits_of(x)
    if x.dtype == np.uint16:
        return np.ascontiguousarray(x)
    near = np.ascontiguousarray(to_dtype(x, "f32", what, rounds))
    bits = near.view(np.uint32)
    rounded = ((bits + np.uint32(0x7FFF) + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    halves: Array = np.where(np.isnan(near), (bits >> 16 | 0x40).astype(np.uint16), rounded)
    _refuse((halves & 0x7FFF == 0x7F80) & np.isfinite(near), near, what, "is too large for bf16")
    if x.dtype.kind in "iu" and not rounds:
        held = (halves.astype(np.uint32) << 16).view(np.float32)
        _refuse(~_same_number(x.reshape(held.shape), held), x, what,
                "is not a number of bf16; its whole numbers are exact to 256")
    return halves


def to_dtype(x: Array, dtype: str, what: str, rounds: bool = False) -> Array:
    """x as contiguous elements of one of thimble's types, its numbers unchanged: whole numbers become
    another integer type or floating point where all of them are numbers of that type (rounds: to the
    nearest), and an error else. Floating point becomes a narrower one to the nearest, and an error
    where it is too large for that. Booleans come from booleans alone. An i4 is held as an int8 from -8
    to 7, because NumPy has no smaller type. bf16 is given as its bits in uint16, because NumPy lacks it."""
    if dtype == "bf16":
        return _bf16(x, what, rounds).reshape(x.shape)
    target = _NUMPY_NAMES.get(dtype, dtype)
    if x.dtype != target:
        kind = "i" if target == "i4" else np.dtype(target).kind
        if x.dtype.kind not in "fiub" or kind == "b" or (kind in "iu" and x.dtype.kind == "f"):
            raise ValueError(f"[{what}] expected {target}, got an array of {x.dtype}")
        x = whole(x, target, what) if kind in "iu" else _real(x, target, what, rounds)
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


def own_dtype(x: Array) -> str | None:
    """The name in graphs of an array's element type, if there is one."""
    return next((mine for mine, name in _NUMPY_NAMES.items() if name == x.dtype.name), None)


def usual_dtype(x: Array, number: bool, beside: Sequence[str] = ()) -> str:
    """The type that an array has in a graph where no op says more: its own where a Value beside it has
    that; else numbers (see is_number) and floating point are f32, booleans u8 (what masks are), and
    integers of 64 bits, NumPy's default, i32."""
    own = own_dtype(x)
    if own in beside:
        return str(own)
    if number or x.dtype.kind == "f":
        return "f32"
    if x.dtype.kind == "b":
        return "u8"
    return "i32" if own is None or own == "i64" else own


# Prices of giving an array of integers another type than its own. An op gets the cheapest of the types
# that it takes.
_WIDER, _NARROWER, _FLOATING = 1, 16, 256


def _kind(dtype: str) -> str:
    return np.dtype(_NUMPY_NAMES[dtype]).kind if dtype in _NUMPY_NAMES else ""


def types_of(x: Array, number: bool, beside: Sequence[str]) -> dict[str, int]:
    """The types that an array may have for an op, with their costs. beside: the types of what stands
    beside it. Integers keep their type if they can; else they get another integer type, a wider one if
    there is one, and floating point last. A number (see is_number) takes the type of its neighbours."""
    usual, kind = usual_dtype(x, number, beside), x.dtype.kind
    if number or kind == "f":
        whole_too = [] if kind == "f" else ["i32"]
        others = [t for t in (*beside, *whole_too) if _kind(t) == "f" or (_kind(t) and whole_too)]
        return {t: i for i, t in enumerate(dict.fromkeys([usual, *others])) if _kind(t) != "b"}
    own = own_dtype(x)
    types = {own: 0} if own else {}
    for other in (*beside, *(["u8"] if kind == "b" else []), "i32", "i64", "f32"):
        if other in types or _kind(other) in ("", "b"):
            continue
        target = np.dtype(_NUMPY_NAMES[other])
        base = _WIDER if np.can_cast(x.dtype, target) else _NARROWER
        types[other] = _FLOATING if target.kind == "f" else base + target.itemsize
    return types


def common_type(arrays: Sequence[Array]) -> str | None:
    """The least type that holds the integers of all arrays, if they have different types."""
    types = {array.dtype for array in arrays if array.dtype.kind in "iu"}
    return own_dtype(np.empty(0, np.result_type(*types))) if len(types) > 1 else None


def normalized(x: Any, what: str, argument: str = "the argument") -> Array:
    """x, an argument of an op, as an array of its usual type where no Value stands beside it."""
    array = argument_of(x, what, argument)
    return to_dtype(array, usual_dtype(array, is_number(x)), what)


def thimble_dtype(x: Array) -> str:
    """The name of an array's element type in graphs."""
    return next(mine for mine, name in _NUMPY_NAMES.items() if name == x.dtype.name)
