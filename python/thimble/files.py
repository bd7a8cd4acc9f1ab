"""Named arrays in safetensors files."""

from __future__ import annotations

import os
import reprlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _core
from ._arrays import Array, as_array
from ._check import TEXT, require


def save_safetensors(
    path: str | os.PathLike[str],
    tensors: Mapping[str, Any],
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Writes arrays (float32, float64, float16, int8, int16, int32, int64, uint8, uint32, bool) under
    their names. An old file is replaced at once, so that it is whole at any moment. Two entries are
    added to the metadata, the checksums of header and arrays, which load_safetensors compares."""
    require("save_safetensors", tensors=(tensors, (Mapping, "a dictionary of arrays")))
    arrays = {}
    for name, tensor in tensors.items():
        require("save_safetensors", names=(name, TEXT))
        array = as_array(tensor)
        if array.dtype.kind not in "fiub":
            raise TypeError(
                f"[save_safetensors] {name} must be an array of numbers, got {reprlib.repr(tensor)}"
            )
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        arrays[name] = np.ascontiguousarray(native).reshape(array.shape)
    texts = dict(metadata or {})
    for name, text in texts.items():
        require("save_safetensors", metadata=(name, TEXT))
        require("save_safetensors", **{f"metadata {name}": (text, TEXT)})
    _core.save_safetensors(os.fspath(path), arrays, texts)


def load_safetensors(path: str | os.PathLike[str]) -> dict[str, Array]:
    """The arrays of a safetensors file by name, in the file's order, of the file's element types;
    bfloat16 as uint16 bits."""
    return _core.load_safetensors(os.fspath(path))


def safetensors_metadata(path: str | os.PathLike[str]) -> dict[str, str]:
    """The text entries of a safetensors file; its arrays are not read."""
    return _core.safetensors_metadata(os.fspath(path))
