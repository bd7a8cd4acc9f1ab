"""Converts the data of fit, evaluate and predict to the form that the compiled module takes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from . import _core
from ._arrays import Array, as_array, to_dtype

# Name: (element type, shape of a sample).
Fields = dict[str, tuple[str, tuple[int, ...]]]


def _hint(array: Array, sample: tuple[int, ...]) -> str:
    got = array.shape[1:]
    images = "; images are [N, H, W, C] here" if len(sample) == 3 else ""
    if images and len(got) == 3 and (got[1], got[2], got[0]) == sample:
        return f"{images}: transpose PyTorch's with permute(0, 2, 3, 1)"
    if array.shape == sample:
        return "; that is one sample: make it a batch of one with x[None]"
    if array.ndim and (*got, 1) == sample:
        return f"{images or '; one axis is missing'}: add the last one with x[..., None]"
    if array.ndim and math.prod(got) == math.prod(sample):
        return f"; x.reshape({', '.join(map(str, (-1, *sample)))}) has that shape"
    return ""


class Feeder:
    """Turns samples into arrays of a model's inputs and labels."""

    def __init__(self, inputs: Fields, labels: Fields, with_labels: bool) -> None:
        self.inputs = inputs
        self.labels = labels
        self.with_labels = with_labels
        self.wanted: Fields = {**inputs, **(labels if with_labels else {})}

    def arrays(self, batch: Any) -> dict[str, Array]:
        """One array a field, by name, from a dictionary, a tuple (inputs, then labels, in the
        order of the graph) or, where the model has but one field, an array."""
        if isinstance(batch, Mapping):
            named = dict(batch)
        else:
            parts = list(batch) if isinstance(batch, (tuple, list)) else [batch]
            names = [*self.inputs, *self.labels]
            if len(parts) > len(names):
                numbers = all(isinstance(part, (int, float)) for part in parts)
                advice = "; make an array of a list of samples, numpy.asarray(x)" if numbers else ""
                raise ValueError(
                    f"[data] {len(parts)} arrays for the fields {', '.join(names)}{advice}"
                )
            named = dict(zip(names, parts))
        missing = [name for name in self.wanted if name not in named]
        if missing:
            raise ValueError(
                f"[data] no array for {', '.join(missing)}; got {', '.join(map(str, named))}"
            )
        arrays = {}
        for name, (dtype, sample) in self.wanted.items():
            array = to_dtype(as_array(named[name]), dtype, name)
            if array.ndim == 0 or array.shape[1:] != tuple(sample):
                raise ValueError(
                    f"[{name}] expected [N{''.join(f', {d}' for d in sample)}], got "
                    f"{list(array.shape)}{_hint(array, tuple(sample))}"
                )
            arrays[name] = array
        return arrays

    def table(self, batch: Any) -> _core.ArrayTable:
        arrays = self.arrays(batch)
        is_label = [name in self.labels for name in arrays]
        dtypes = [self.wanted[name][0] for name in arrays]
        return _core.ArrayTable(list(arrays), list(arrays.values()), is_label, dtypes)

    def _epochs(self, first: Any, iterator: Iterator[Any], data: Any) -> Callable[[int], Any]:
        """A function that begins an epoch and returns what gives its batches, one by one."""
        started = False

        def begin(_epoch: int) -> Callable[[], list[Array] | None]:
            nonlocal started
            batches = iter(data() if callable(data) else data)
            if not started:
                batches = itertools.chain([first], iterator)
            started = True
            empty = True

            def following() -> list[Array] | None:
                nonlocal empty
                try:
                    batch = next(batches)
                except StopIteration:
                    if empty:
                        raise ValueError(
                            "[data] the iterable gave no batches; for several epochs it must be "
                            "one that starts anew: a list, a DataLoader, or a function that "
                            "returns an iterator"
                        ) from None
                    return None
                empty = False
                return list(self.arrays(batch).values())

            return following

        return begin

    def source(self, data: Any) -> Any:
        """data as the module takes it: a Dataset, a table, or a stream of batches."""
        if isinstance(data, _core.Dataset):
            return data
        if isinstance(data, (Mapping, tuple, np.ndarray)) or hasattr(data, "__dlpack__"):
            return self.table(data)
        if not (callable(data) or isinstance(data, Iterable)):
            raise TypeError(
                "[data] expected a Dataset, arrays (a dictionary or a tuple) or an iterable of "
                f"batches, got {data!r}"
            )
        iterator = iter(data() if callable(data) else data)
        try:
            first = next(iterator)
        except StopIteration:
            raise ValueError("[data] the iterable gave no batches") from None
        batches = len(data) if hasattr(data, "__len__") else 0
        return self.table(first), self._epochs(first, iterator, data), batches
