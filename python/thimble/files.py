"""Named arrays in safetensors files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _core
from ._arrays import Array, as_array


def save_safetensors(
    path: str | os.PathLike[str],
    tensors: Mapping[str, Any],
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Writes arrays (float32, float16, int32, int8, uint8, uint32; float64 as float32) under their
    names. The old file, if any, is replaced at once: never half written."""
    arrays = {}
    for name, tensor in tensors.items():
        array = as_array(tensor)
        if array.dtype == np.float64:
            array = array.astype(np.float32)
        arrays[name] = np.ascontiguousarray(array).reshape(array.shape)
    _core.save_safetensors(os.fspath(path), arrays, dict(metadata or {}))


def load_safetensors(path: str | os.PathLike[str]) -> dict[str, Array]:
    """The arrays of a safetensors file by name, in the file's order. bfloat16 as uint16 bits."""
    return _core.load_safetensors(os.fspath(path))


def safetensors_metadata(path: str | os.PathLike[str]) -> dict[str, str]:
    """The text entries beside the arrays, which are not read."""
    return _core.safetensors_metadata(os.fspath(path))
