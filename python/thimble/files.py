"""Named arrays in safetensors files."""

from __future__ import annotations

import os
import reprlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _core
from ._arrays import Array, bits_of, held_array, is_bfloat16
from ._check import TEXT, require


def save_safetensors(
    path: str | os.PathLike[str],
    tensors: Mapping[str, Any],
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Writes arrays (float32, float64, float16, bfloat16, int8, int16, int32, int64, uint8, uint32, bool)
    under their names. bfloat16 are arrays of ml_dtypes or of two bytes, as load_safetensors gives them,
    and tensors of PyTorch. An old file is replaced at once, so that it is whole at any moment. Two
    entries are added to the metadata, the checksums of header and arrays, which load_safetensors
    compares."""
    require("save_safetensors", tensors=(tensors, (Mapping, "a dictionary of arrays")))
    arrays, bf16 = {}, set()
    for name, tensor in tensors.items():
        require("save_safetensors", names=(name, TEXT))
        array = held_array(tensor)
        if is_bfloat16(array):
            arrays[name] = bits_of(array)
            bf16.add(name)
            continue
        if array.dtype.kind not in "fiub":
            raise TypeError(
                f"[save_safetensors] {name} must be an array of numbers, got {reprlib.repr(tensor)}"
            )
        if array.dtype == np.uint16:
            raise TypeError(
                f"[save_safetensors] {name} is of uint16, which such files have not: convert it to int32; if these "
                'are the bits of bfloat16, give a view, x.view(ml_dtypes.bfloat16) or x.view("V2")'
            )
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        arrays[name] = np.ascontiguousarray(native).reshape(array.shape)
    texts = dict(metadata or {})
    for name, text in texts.items():
        require("save_safetensors", metadata=(name, TEXT))
        require("save_safetensors", **{f"metadata {name}": (text, TEXT)})
    _core.save_safetensors(os.fspath(path), arrays, bf16, texts)


def load_safetensors(path: str | os.PathLike[str]) -> dict[str, Array]:
    """The arrays of a safetensors file by name, in the file's order, of the file's element types.
    bfloat16, which NumPy has not, is that of the package ml_dtypes where it is installed, else NumPy's
    "V2", two bytes without arithmetic: (x.view("uint16").astype("uint32") << 16).view("float32") are
    the numbers. save_safetensors and load_state_dict take both."""
    return _core.load_safetensors(os.fspath(path))


def safetensors_metadata(path: str | os.PathLike[str]) -> dict[str, str]:
    """The text entries of a safetensors file; its arrays are not read."""
    return _core.safetensors_metadata(os.fspath(path))
