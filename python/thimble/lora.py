"""LoRA: low-rank adapters beside frozen weights (Hu et al., 2021)."""

from __future__ import annotations

import os
from collections.abc import Iterable

from . import _core
from ._check import GRAPH, NUMBER, TEXT, WHOLE, listed, require
from ._core import Graph
from .model_files import graph_of
from .trainer import Trainer

MODEL = ((Graph, Trainer), "a thimble.Graph or thimble.Trainer")


def add_lora(graph: Graph, *, rank: int = 8, alpha: float = 16.0, targets: Iterable[str]) -> Graph:
    """The model with an adapter beside each product of rows with a weight of a target: y = x W + b becomes
    y + alpha / rank * (x A^T) B^T. A, [rank, in], begins with random numbers and B, [out, rank], with 0. Both are trained,
    and all other parameters are frozen.

    Args:
        graph: the model
        rank: of the adapters
        alpha: what an adapter adds is multiplied by alpha / rank
        targets: names of layers, or the ends of these behind a dot: "q_proj"; * stands for any characters. A layer has
            the name of its weight without ".weight"

    Raises ValueError where a target names no such layer, or the model has adapters.
    """
    require("add_lora", graph=(graph, GRAPH), rank=(rank, WHOLE), alpha=(alpha, NUMBER))
    return _core.add_lora(graph, int(rank), float(alpha), listed("add_lora", "targets", targets, str, "strings"))


def store_weights(graph: Graph, dtype: str) -> Graph:
    """The model with its matrices of weights stored in a narrow type, "bf16", "f16", "i8" or "i4", and frozen. They are made
    float32 where they are used, and lie in a mapped file, so that they cost a training no memory. "i8" and "i4" have a scale
    for every 64 numbers of a row; tables of embeddings, and what is tied to them, become "bf16" there. Raises ValueError for
    another type, and where the graph has no weights with values."""
    require("store_weights", graph=(graph, GRAPH), dtype=(dtype, TEXT))
    return _core.store_weights(graph, dtype)


def merge_lora(model: Graph | Trainer) -> Graph:
    """The model without adapters: what they add is in the weights. Raises ValueError where it has none with values."""
    require("merge_lora", model=(model, MODEL))
    return _core.merge_lora(graph_of(model))


def save_lora(model: Graph | Trainer, folder: str | os.PathLike[str]) -> None:
    """Writes the adapters of a model as PEFT does: adapter_model.safetensors and adapter_config.json in a folder, which is
    made where there is none."""
    require("save_lora", model=(model, MODEL))
    _core.save_lora(graph_of(model), os.fspath(folder))


def load_lora(graph: Graph, folder: str | os.PathLike[str]) -> Graph:
    """add_lora with the settings and values of such a folder, which PEFT or save_lora wrote. Raises RuntimeError naming the
    file where it is damaged, asks for what thimble has not, or does not fit the model."""
    require("load_lora", graph=(graph, GRAPH))
    return _core.load_lora(graph, os.fspath(folder))
