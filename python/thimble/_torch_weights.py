"""State dicts between the layout of a recipe and PyTorch's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ._arrays import Array, as_array

Shape = tuple[int, ...]
# A counter of torch.nn's norms, which is no weight.
_COUNTER = "num_batches_tracked"


def _turned(array: Array, axis: int, image: Shape, order: Shape) -> Array:
    """The axis as an image, its dimensions in another order, and flattened."""
    shape = array.shape
    split = array.reshape(*shape[:axis], *image, *shape[axis + 1 :])
    axes = [*range(axis), *(axis + i for i in order), *range(axis + 3, split.ndim)]
    return split.transpose(axes).reshape(shape)


def _check(where: str, state: Mapping[str, Any], shapes: Mapping[str, Shape]) -> None:
    """One error for all names and shapes that are not those of the model."""
    missing = [f"{name} {list(shape)}" for name, shape in shapes.items() if name not in state]
    unexpected = [name for name in state if name not in shapes]
    wrong = [
        f"{name} must be {list(shapes[name])}, got {list(as_array(tensor).shape)}"
        for name, tensor in state.items()
        if name in shapes and as_array(tensor).shape != shapes[name]
    ]
    parts = {"missing": missing, "unexpected": unexpected, "of another shape": wrong}
    if any(parts.values()):
        told = "; ".join(f"{what}: {', '.join(names)}" for what, names in parts.items() if names)
        raise ValueError(f"[{where}] {told}")


class TorchWeights:
    """Turns state dicts of a model.

    shapes: of its weights. flattened: the axis that runs over a flattened image, and that image's
    height, width and channels. tied: names that PyTorch has beside those of the model, and of which
    they are copies. buffers: ends of names that PyTorch has and that are no weights.
    """

    def __init__(
        self,
        shapes: Mapping[str, Shape],
        flattened: Mapping[str, tuple[int, int, int, int]],
        tied: Mapping[str, str],
        buffers: tuple[str, ...],
    ) -> None:
        self.shapes = shapes
        self.flattened = flattened
        self.tied = tied
        self.buffers = (*buffers, _COUNTER)

    def to_torch(self, state: Mapping[str, Any]) -> dict[str, Array]:
        _check("to_torch", state, self.shapes)
        out = {name: self._there(name, as_array(tensor)) for name, tensor in state.items()}
        out |= {second: out[first] for second, first in self.tied.items()}
        return out

    def from_torch(self, state: Mapping[str, Any]) -> dict[str, Array]:
        state = {name: x for name, x in state.items() if not name.endswith(self.buffers)}
        for second, first in self.tied.items():
            copy = state.pop(second, None)
            if copy is None:
                continue
            if not np.array_equal(as_array(copy), as_array(state.setdefault(first, copy))):
                raise ValueError(
                    f"[from_torch] {second} differs from {first}, of which it is a copy"
                )
        shapes = {name: self._there(name, np.empty(s, bool)).shape for name, s in self.shapes.items()}
        _check("from_torch", state, shapes)
        return {name: self._here(name, as_array(tensor)) for name, tensor in state.items()}

    def _there(self, name: str, array: Array) -> Array:
        """[out, ..., in] as [out, in, ...]; images [H, W, C] as [C, H, W]."""
        array = np.moveaxis(array, -1, 1) if array.ndim >= 3 else array
        if name in self.flattened:
            axis, h, w, c = self.flattened[name]
            array = _turned(array, axis, (h, w, c), (2, 0, 1))
        return np.ascontiguousarray(array)

    def _here(self, name: str, array: Array) -> Array:
        array = np.moveaxis(array, 1, -1) if array.ndim >= 3 else array
        if name in self.flattened:
            axis, h, w, c = self.flattened[name]
            array = _turned(array, axis, (c, h, w), (1, 2, 0))
        return np.ascontiguousarray(array)
