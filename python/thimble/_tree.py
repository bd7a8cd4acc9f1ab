"""Nested dictionaries, lists and tuples as flat lists of leaves, and back."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any


class Leaf:
    """Stands for a leaf in the structure of a tree."""


_LEAF = Leaf()


def flatten(tree: Any) -> tuple[list[Any], Hashable]:
    """The leaves in order, and a structure that equal trees share."""
    if isinstance(tree, dict):
        keys = sorted(tree)
        parts = [flatten(tree[key]) for key in keys]
        shape: Hashable = ("dict", tuple(keys), tuple(s for _, s in parts))
    elif isinstance(tree, (list, tuple)):
        parts = [flatten(item) for item in tree]
        named = isinstance(tree, tuple) and hasattr(tree, "_fields")
        kind = type(tree) if named else "list" if isinstance(tree, list) else "tuple"
        shape = (kind, (), tuple(s for _, s in parts))
    else:
        return [tree], _LEAF
    return [leaf for leaves, _ in parts for leaf in leaves], shape


def unflatten(structure: Any, leaves: Iterator[Any]) -> Any:
    """A tree of the structure, its leaves taken one by one."""
    if structure is _LEAF:
        return next(leaves)
    kind, keys, parts = structure
    items = [unflatten(part, leaves) for part in parts]
    if kind == "dict":
        return dict(zip(keys, items))
    if isinstance(kind, type):  # a named tuple
        return kind(*items)
    return items if kind == "list" else tuple(items)


def drawn(structure: Any) -> str:
    """A structure as Python writes it, with "..." for each leaf."""
    if structure is _LEAF:
        return "..."
    kind, keys, parts = structure
    items = [drawn(part) for part in parts]
    if kind == "dict":
        return "{" + ", ".join(f"{key!r}: {item}" for key, item in zip(keys, items)) + "}"
    if kind == "list":
        return "[" + ", ".join(items) + "]"
    name = kind.__name__ if isinstance(kind, type) else ""
    return f"{name}({', '.join(items)}{',' if len(items) == 1 else ''})"
