"""Parameters as arrays, and state dicts: what trainers and predictors share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from ._arrays import Array, as_array, held_array, is_bfloat16, to_dtype, whole


class _HasTensors(Protocol):
    def tensors(self) -> dict[str, Array]: ...
    def unpacked_tensor(self, name: str, values: Any) -> Array | None: ...
    def constant_tensor(self, name: str) -> Array | None: ...
    def check_tensor(self, name: str, values: Array) -> None: ...
    def set_tensor(self, name: str, values: Array) -> None: ...


def chosen(results: dict[str, Array], output: str | None) -> Any:
    """The named output, the only one, or all by name."""
    if output is not None:
        if output not in results:
            raise ValueError(f"[predict] no output {output!r}; there are {', '.join(results)}")
        return results[output]
    return next(iter(results.values())) if len(results) == 1 else results


def written(result: Any, out: Any) -> Array:
    """`out` with the elements of a result. Raises where it cannot take them as they are."""
    if isinstance(result, dict):
        names = ", ".join(result)
        raise ValueError(f"[predict] out takes one output; name it with output: {names}")
    if not isinstance(out, np.ndarray):
        raise TypeError(f"[predict] out: expected a NumPy array, got {type(out).__name__}")
    wanted = f"{result.dtype} {list(result.shape)}"
    if out.dtype != result.dtype or out.shape != result.shape:
        raise ValueError(f"[predict] out: expected {wanted}, got {out.dtype} {list(out.shape)}")
    if not (out.flags.c_contiguous and out.flags.writeable):
        raise ValueError(f"[predict] out: expected a writable, C-contiguous array of {wanted}")
    out[...] = result
    return out


class Weights:
    """An object with parameters and running statistics."""

    _core: _HasTensors

    @property
    def parameters(self) -> dict[str, Array]:
        """The parameters and running statistics by name: arrays over the trainer's own memory.
        Writing to them changes the model; training changes them. They keep the trainer alive.
        Parameters in the swap file of a memory budget are read-only copies; load_state_dict changes
        them."""
        return self._core.tensors()

    def state_dict(self) -> dict[str, Array]:
        """Copies of the parameters and running statistics by name."""
        return {name: array.copy() for name, array in self.parameters.items()}

    def _is_constant(self, name: str, given: Any) -> bool:
        """Whether this is the name of a constant. Raises where that has other numbers."""
        constant = self._core.constant_tensor(name)
        if constant is None:
            return False
        if not np.array_equal(as_array(constant), as_array(given), equal_nan=True):
            raise ValueError(
                f"[load_state_dict] {name} is a constant, which has other numbers in the model than in the state: "
                "make the model with its settings, such as alpha of add_lora; strict=False leaves constants out")
        return True

    def load_state_dict(self, state: Mapping[str, Any], strict: bool = True) -> None:
        """Takes parameters and running statistics by name; nothing changes where one does not fit.
        strict: the names must be the model's, no fewer and no more; a model file has its constants beside
        them, such as the factors of LoRA adapters, which must be equal then. Raises ValueError for
        names, shapes and whole numbers out of range (-8 to 7 for i4, whose arrays are int8), TypeError
        for elements that cannot be converted, such as floats to integers."""
        mine = self.parameters
        missing = [name for name in mine if name not in state]
        unexpected = [name for name in state if name not in mine and not (strict and self._is_constant(name, state[name]))]
        if strict and (missing or unexpected):
            raise ValueError(
                f"[load_state_dict] missing: {', '.join(missing) or 'none'}; "
                f"unexpected: {', '.join(unexpected) or 'none'}"
            )
        arrays = {name: (held_array if is_bfloat16(mine[name]) else as_array)(state[name])
                  for name in mine if name in state}
        for name, array in arrays.items():
            if array.dtype == np.uint8 and array.shape != mine[name].shape:  # as a model file holds an i4
                unpacked = self._core.unpacked_tensor(name, array)
                array = array if unpacked is None else unpacked
            if array.shape != mine[name].shape:
                raise ValueError(
                    f"[{name}] has shape {list(mine[name].shape)}, got {list(array.shape)}"
                )
            if is_bfloat16(mine[name]):
                arrays[name] = to_dtype(array, "bf16", name)
                self._core.check_tensor(name, arrays[name])
                continue
            if not np.can_cast(array.dtype, mine[name].dtype, casting="same_kind"):
                raise TypeError(f"[{name}] has elements of {mine[name].dtype}, got {array.dtype}")
            if array.dtype != mine[name].dtype and mine[name].dtype.kind in "iu":
                array = whole(array, mine[name].dtype.name, name)
            arrays[name] = np.ascontiguousarray(array, mine[name].dtype)
            self._core.check_tensor(name, arrays[name])
        for name, array in arrays.items():
            self._core.set_tensor(name, array)
