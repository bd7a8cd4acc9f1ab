"""Compiled functions of arrays, kept by what they were compiled for."""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from . import _core
from ._arrays import Array, thimble_dtype

# Limits of the number of functions kept, and of their memory.
_LIMIT = 256
_LIMIT_BYTES = 256 << 20

_seed = 0
_draws = itertools.count()


def seed(value: int) -> None:
    """Starts the random numbers of functions on arrays (dropout, random_normal, ...) anew. Draws
    depend on the seed and on how many functions ran since."""
    global _seed, _draws
    _seed = value
    _draws = itertools.count()


class Cache:
    """The functions used last, by key: tuples of a _core.Function and what belongs to it."""

    def __init__(self) -> None:
        self._functions: OrderedDict[Hashable, tuple[Any, ...]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
        """The entry of a key, made at first use."""
        with self._lock:
            if key in self._functions:
                self._functions.move_to_end(key)
                return self._functions[key]
        made = make()
        with self._lock:
            self._functions[key] = made
            while len(self._functions) > 1 and (
                len(self._functions) > _LIMIT or self.bytes() > _LIMIT_BYTES
            ):
                self._functions.popitem(last=False)
        return made

    def bytes(self) -> int:
        """Memory held by the functions."""
        return sum(entry[0].bytes for entry in self._functions.values())

    def __len__(self) -> int:
        return len(self._functions)


def signature(arrays: Sequence[Array]) -> tuple[tuple[tuple[int, ...], str], ...]:
    return tuple((array.shape, array.dtype.str) for array in arrays)


def sources(graph: _core.Graph, arrays: Sequence[Array]) -> list[_core.Value]:
    """One source of the graph for each array, of its shape and type."""
    return [
        graph._source(f"argument_{i}", array.shape, thimble_dtype(array))
        for i, array in enumerate(arrays)
    ]


def run(function: _core.Function, arrays: Sequence[Array]) -> list[Array]:
    return list(function(arrays, _seed, next(_draws)))
