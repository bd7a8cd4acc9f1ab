"""The types that arrays get in a graph: read from what an op declares about its inputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ._arrays import ELEMENT_TYPES, Array, common_type, own_dtype, types_of, usual_dtype
from ._core import Value

# The price of a type that is none of the usual ones for an array.
_UNUSUAL = 1000


def _unusual(x: Array) -> Iterable[str]:
    """The types that an array can be converted to at all, but for its own."""
    return ("f32", "f16", "f64") if x.dtype.kind == "f" else (t for t in ELEMENT_TYPES if t != "bool")


def _prices(given: Sequence[Value | Array | None], are_numbers: Sequence[bool]) -> list[dict[str, int]]:
    """The types that each array may have, with their prices (see types_of); of other inputs none."""
    of_values = [x.dtype for x in given if isinstance(x, Value)]
    strong = [
        x for x, number in zip(given, are_numbers)
        if not (x is None or isinstance(x, Value) or number)
    ]
    common = common_type(strong)
    own = [usual_dtype(x, False, of_values) if x.dtype.kind == "f" else own_dtype(x) for x in strong]
    beside = list(dict.fromkeys([*of_values, *([common] if common else []), *(t for t in own if t)]))
    prices: list[dict[str, int]] = []
    for x, number in zip(given, are_numbers):
        usual = {} if x is None or isinstance(x, Value) else types_of(x, number, beside)
        if x is not None and not isinstance(x, Value):
            usual = {**usual, **{t: _UNUSUAL for t in _unusual(x) if t not in usual}}
            usual = dict(sorted(usual.items(), key=lambda each: each[1]))
        prices.append(usual)
    return prices


def declared(spec: dict[str, Any], i: int) -> int:
    """The number of the declared input that input i of a call is: the last one may repeat."""
    return min(i, len(spec["inputs"]) - 1)


def _groups(spec: dict[str, Any], given: Sequence[Any]) -> list[list[int]]:
    """The inputs given, those together that must have one type."""
    groups: dict[int, list[int]] = {}
    for i, x in enumerate(given):
        if x is None:
            continue
        like = spec["inputs"][declared(spec, i)]["type_of"]
        groups.setdefault(i if like < 0 else like, []).append(i)
    return list(groups.values())


def _price_of_row(
    spec: dict[str, Any], row: list[list[str]], given: Sequence[Value | Array | None],
    prices: Sequence[dict[str, int]],
) -> tuple[int, dict[int, str]] | None:
    """What it costs to give the arrays types of a row, and these types by the numbers of the inputs;
    None where it is not possible."""
    total, types = 0, {}
    for group in _groups(spec, given):
        fixed = {x.dtype for i in group for x in [given[i]] if isinstance(x, Value)}
        arrays = [i for i in group if not isinstance(given[i], Value)]
        allowed = set.intersection(*(set(row[declared(spec, i)]) for i in group))
        if fixed:
            allowed = allowed & fixed if len(fixed) == 1 else set()
        fitting = {
            t: sum(prices[i][t] for i in arrays)
            for t in (prices[arrays[0]] if arrays else fixed)
            if t in allowed and all(t in prices[i] for i in arrays)
        }
        if not fitting:
            return None
        best = min(fitting, key=lambda t: fitting[t])
        total += fitting[best]
        types.update({i: best for i in arrays})
    return total, types


def chosen_types(
    spec: dict[str, Any], given: Sequence[Value | Array | None], are_numbers: Sequence[bool]
) -> list[str]:
    """The types in a graph of the arrays among the inputs: the cheapest (see types_of) of those that the
    op takes together. Where it takes none, each array has its usual type, and the op refuses them.
    are_numbers: whether each input is a number, see is_number."""
    prices = _prices(given, are_numbers)
    rows = [_price_of_row(spec, row, given, prices) for row in spec["types"]]
    possible = [row for row in rows if row is not None]
    types = min(possible, key=lambda row: row[0])[1] if possible else {}
    return [
        types.get(i) or next(iter(prices[i]))
        for i, x in enumerate(given)
        if x is not None and not isinstance(x, Value)
    ]


def taken_types(
    spec: dict[str, Any], given: Sequence[Value | Array | None], types: Sequence[str], i: int
) -> list[str]:
    """The types that an op takes of input i where the other inputs have these. types: of the arrays."""
    left = iter(types)
    others = [None if x is None else x.dtype if isinstance(x, Value) else next(left) for x in given]
    taken = []
    for each in ELEMENT_TYPES:
        tried = [*others[:i], each, *others[i + 1 :]]
        alike = all(len({tried[k] for k in group}) == 1 for group in _groups(spec, given))
        if alike and any(
            all(t is None or t in row[declared(spec, k)] for k, t in enumerate(tried))
            for row in spec["types"]
        ):
            taken.append(each)
    return taken


__all__ = ["chosen_types", "declared", "taken_types"]
