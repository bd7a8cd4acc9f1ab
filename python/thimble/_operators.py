"""Arithmetic of Values. Numbers become attributes of an op, not tensors."""

from __future__ import annotations

from typing import Any

from . import ops


def _is_number(x: object) -> bool:
    return isinstance(x, (int, float))


def operand(x: object) -> bool:
    """Whether x can be an operand; if not, Python's own error names both types."""
    return x is not None and not isinstance(x, (str, bytes, dict, set))


def add(a: Any, b: Any) -> Any:
    """a + b"""
    if _is_number(b):
        return ops.affine(a, shift=b)
    return ops.affine(b, shift=a) if _is_number(a) else ops.add(a, b)


def sub(a: Any, b: Any) -> Any:
    """a - b"""
    if _is_number(b):
        return ops.affine(a, shift=-b)
    return ops.affine(b, scale=-1.0, shift=a) if _is_number(a) else ops.sub(a, b)


def mul(a: Any, b: Any) -> Any:
    """a * b"""
    if _is_number(b):
        return ops.affine(a, scale=b)
    return ops.affine(b, scale=a) if _is_number(a) else ops.mul(a, b)


def div(a: Any, b: Any) -> Any:
    """a / b"""
    if _is_number(b) and b != 0:
        return ops.affine(a, scale=1.0 / b)
    if _is_number(a):
        return ops.affine(ops.reciprocal(b), scale=a)
    return ops.div(a, b)


def matmul(a: Any, b: Any) -> Any:
    """a @ b"""
    return ops.matmul(a, b)


def power(a: Any, b: Any) -> Any:
    """a ** b"""
    return ops.pow(a, exponent=b) if _is_number(b) else ops.pow_tensor(a, b)
