"""Arithmetic of Values. Numbers beside floating point become attributes of an op, not tensors."""

from __future__ import annotations

import math
import numbers
from typing import Any

from . import ops

_FLOATING = ("f32", "f16", "bf16")


def _is_number(x: object, beside: Any) -> bool:
    """Whether x becomes an attribute."""
    return isinstance(x, numbers.Real) and beside.dtype in _FLOATING


def operand(x: object) -> bool:
    """Whether x can be an operand; if not, Python's own error names both types."""
    return x is not None and not isinstance(x, (str, bytes, dict, set))


def add(a: Any, b: Any) -> Any:
    """a + b"""
    if _is_number(b, a):
        return ops.affine(a, shift=float(b))
    return ops.affine(b, shift=float(a)) if _is_number(a, b) else ops.add(a, b)


def sub(a: Any, b: Any) -> Any:
    """a - b"""
    if _is_number(b, a):
        return ops.affine(a, shift=-float(b))
    return ops.affine(b, scale=-1.0, shift=float(a)) if _is_number(a, b) else ops.sub(a, b)


def mul(a: Any, b: Any) -> Any:
    """a * b"""
    if _is_number(b, a):
        return ops.affine(a, scale=float(b))
    return ops.affine(b, scale=float(a)) if _is_number(a, b) else ops.mul(a, b)


def div(a: Any, b: Any) -> Any:
    """a / b. The quotient by or of a number is computed in f32 and has the type of the other side."""
    number: Any
    if _is_number(b, a):
        number = float(b)
        if _has_exact_reciprocal(number):
            return ops.affine(a, scale=1.0 / number)
        return _as(a.dtype, ops.div(_as("f32", a), number))
    if _is_number(a, b):
        number = float(a)
        return _as(b.dtype, ops.div(number, _as("f32", b)))
    return ops.div(a, b)


def _as(dtype: str, x: Any) -> Any:
    return x if x.dtype == dtype else ops.cast(x, dtype)


def _has_exact_reciprocal(x: float) -> bool:
    """Whether x is a power of two, far from the ends of f32."""
    return abs(math.frexp(x)[0]) == 0.5 and 2.0**-126 <= abs(x) <= 2.0**126


def matmul(a: Any, b: Any) -> Any:
    """a @ b"""
    return ops.matmul(a, b)


def power(a: Any, b: Any) -> Any:
    """a ** b"""
    return ops.pow(a, exponent=float(b)) if _is_number(b, a) else ops.pow_tensor(a, b)


def eq(a: Any, b: Any) -> Any:
    """a == b"""
    return ops.eq(a, b)


def ne(a: Any, b: Any) -> Any:
    """a != b"""
    return ops.ne(a, b)
