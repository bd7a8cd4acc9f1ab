"""Model files: a graph and its weights in one safetensors file."""

from __future__ import annotations

import os

from . import _core
from ._check import WHOLE, require
from ._core import Graph
from .trainer import Trainer


def save_model(model: Graph | Trainer, path: str | os.PathLike[str], *, seed: int = 0) -> None:
    """Writes a graph and its weights to one safetensors file, which load_model and every command of
    the command line take. An old file is replaced at once.

    Args:
        model: a Trainer, whose weights are written (of averaged ones the averages), without what
            resuming needs; or a Graph with the weights that load_model gave it, or new ones
        seed: of new weights; a Trainer of that seed begins with the same
    """
    require("save_model", model=(model, ((Graph, Trainer), "a thimble.Trainer or thimble.Graph")))
    require("save_model", seed=(seed, WHOLE))
    if isinstance(model, Trainer):
        model._core.save_model(os.fspath(path))
        return
    if not 0 <= seed < 1 << 64:
        raise ValueError(f"[save_model] seed must be from 0 to 2**64 - 1, got {seed}")
    _core.save_model(model, os.fspath(path), int(seed))


def load_model(path: str | os.PathLike[str]) -> Graph:
    """The graph of a model file or checkpoint, with its weights: a Trainer or Predictor of it begins
    with these. Raises RuntimeError naming file and field where the file is damaged, of a newer
    version or no model file."""
    return _core.load_model(os.fspath(path))


def import_quantized_json(path: str | os.PathLike[str]) -> Graph:
    """The graph of a quantized network of another program, with its weights: a JSON file with its
    tensors in the .safetensors file of the same name beside it. The guide's page on quantized networks
    describes the format. Raises RuntimeError naming file and field where either is damaged."""
    return _core.import_quantized_json(os.fspath(path))
