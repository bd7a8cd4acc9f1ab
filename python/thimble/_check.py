"""Arguments of the wrong type as errors in the user's words."""

from __future__ import annotations

import numbers
import reprlib
from collections.abc import Iterable
from typing import Any

from ._core import Graph

# Kinds of arguments, each with its name in errors.
GRAPH = (Graph, "a thimble.Graph")
WHOLE = (numbers.Integral, "a whole number")
NUMBER = (numbers.Real, "a number")
TEXT = (str, "a str")
TRUTH = (bool, "True or False")


def listed(where: str, name: str, given: Any, kind: Any, what: str) -> list[Any]:
    """The elements of a list argument; TypeError if it holds other types or is a single element."""
    if isinstance(given, kind) or not isinstance(given, Iterable):
        raise TypeError(f"[{where}] {name} must be a list of {what}, got {reprlib.repr(given)}")
    things = list(given)
    for each in things:
        if not isinstance(each, kind):
            raise TypeError(f"[{where}] {name} must hold {what}, got {reprlib.repr(each)}")
    return things


def require(where: str, **given: tuple[Any, tuple[Any, str]]) -> None:
    """TypeError where a value, given by its argument's name, is not of the kind beside it."""
    for name, (value, (kind, what)) in given.items():
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise TypeError(f"[{where}] {name} must be {what}, got {reprlib.repr(value)}")
