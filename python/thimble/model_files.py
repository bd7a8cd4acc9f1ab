"""Model files: a graph and its weights in one safetensors file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _core
from ._check import WHOLE, require
from ._core import Graph, Value
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


def adapt(
    graph: Graph,
    *,
    loss: str = "",
    label: str = "label",
    metrics: Sequence[str] = (),
    output: str = "",
    classes: int = 0,
    seed: int = 0,
    f32_inputs: bool = False,
    freeze: Sequence[str] = (),
    trainable: Sequence[str] = (),
) -> Graph:
    """A trained model made ready for a training of one's own: a new graph, whose parameters keep their
    names and values.

    Args:
        graph: with weights (load_model, import_quantized_json)
        loss: name of a function of an output and a label, such as "softmax_cross_entropy" or "mse";
            it takes the place of the graph's loss and metrics, which stay without it
        label: name of the label, [N, ...] of int32 where the loss takes classes, else of the shape
            of the output
        metrics: names of functions of the same values to report beside the loss: "accuracy"
        output: name of the output that they judge; the graph's only one by default
        classes: if above 0, the last layer with weights before the output gets weights for so many
            results, drawn by seed
        seed: of new weights
        f32_inputs: inputs of int8 become inputs of float32, which the model makes int8 itself
        freeze: patterns of parameters that are not trained
        trainable: patterns of those that are, after freeze; int8 weights are frozen without it

    Raises ValueError where the graph has no such output, the loss or a metric is unknown or does not
    take the output, no layer before it has weights, or a pattern matches nothing.
    """
    require("adapt", graph=(graph, (Graph, "a thimble.Graph")))
    require("adapt", classes=(classes, WHOLE), seed=(seed, WHOLE))
    if classes < 0:
        raise ValueError(f"[adapt] classes must be 0 or more, got {classes}")
    if not 0 <= seed < 1 << 64:
        raise ValueError(f"[adapt] seed must be from 0 to 2**64 - 1, got {seed}")
    lists = {"metrics": metrics, "freeze": freeze, "trainable": trainable}
    for name, texts in lists.items():
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise TypeError(f"[adapt] {name} must be a list of strings, got {texts!r}")
    return _core.adapt(
        graph,
        output=output,
        loss=loss,
        label=label,
        metrics=list(metrics),
        classes=int(classes),
        seed=int(seed),
        f32_inputs=bool(f32_inputs),
        freeze=list(freeze),
        trainable=list(trainable),
    )


def graph_of(model: Graph | Trainer) -> Graph:
    """The graph, or that of a Trainer with its weights."""
    if isinstance(model, Graph):
        return model
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.safetensors")
        model._core.save_model(path)
        return _core.load_model(path)


def import_model(path: str | os.PathLike[str]) -> Graph:
    """The graph of a model file of another program, with its weights: of TensorFlow Lite, circle, or any other format that
    has a function here; the file's contents tell which. Raises RuntimeError naming file and field where it is damaged or
    of none of them."""
    return _core.import_model(os.fspath(path))


def import_tflite(path: str | os.PathLike[str]) -> Graph:
    """The graph of a TensorFlow Lite or circle file, float or fully int8, with its weights. Dimension 0 of inputs is the
    batch. Operators of int8 have the bits of TensorFlow Lite's reference kernels, those of dense layers of TensorFlow Lite
    Micro. The guide's page on models in and out lists them. Raises RuntimeError naming file and operator where it is
    damaged or has what thimble does not read."""
    return _core.import_tflite(os.fspath(path))


def import_hugging_face(path: str | os.PathLike[str], *, tokens: int = 0) -> Graph:
    """The graph of a Hugging Face model, with its weights, as float32. The guide's page on transformers lists the models.
    Inputs, outputs and parameters have the names of that library: input_ids, logits, model.norm.weight.

    Args:
        path: a folder with config.json and model.safetensors, or with an index and the files that it names
        tokens: those of a sample; 0: the positions that the model has, at most 512

    Raises RuntimeError naming file and field or tensor where config.json asks for what thimble has not, or a file is
    damaged or lacks something.
    """
    return _core.import_hugging_face(os.fspath(path), int(tokens))


def export_tflite(model: Graph | Trainer, path: str | os.PathLike[str]) -> None:
    """Writes what a model's outputs compute as TensorFlow Lite, or as circle where the path ends in ".circle".

    Args:
        model: a Trainer, whose weights are written (of averaged ones the averages), or a Graph with weights (load_model)
        path: the file, which is replaced at once

    Raises RuntimeError naming the op that such files have no operator for.
    """
    require("export_tflite", model=(model, ((Graph, Trainer), "a thimble.Trainer or thimble.Graph")))
    _core.export_tflite(graph_of(model), os.fspath(path))


def export_onnx(model: Graph | Trainer, path: str | os.PathLike[str]) -> None:
    """Writes what a model's outputs compute as ONNX, opset 23. Inputs and outputs keep their names and shapes: images
    are [N, H, W, C]. Networks on int8 (quantize_model) are written with QuantizeLinear and DequantizeLinear, opset 20.

    Args:
        model: a Trainer, whose weights are written (of averaged ones the averages), or a Graph with weights (load_model)
        path: the file, which is replaced at once

    Raises RuntimeError naming the op that such files have no operator for.
    """
    require("export_onnx", model=(model, ((Graph, Trainer), "a thimble.Trainer or thimble.Graph")))
    _core.export_onnx(graph_of(model), os.fspath(path))


def import_quantized_json(path: str | os.PathLike[str]) -> Graph:
    """The graph of a quantized network of another program, with its weights: a JSON file with its
    tensors in the .safetensors file of the same name beside it. The guide's page on quantized networks
    describes the format. Raises RuntimeError naming file and field where either is damaged."""
    return _core.import_quantized_json(os.fspath(path))


def import_onnx(
    path: str | os.PathLike[str],
    *,
    dims: Mapping[str, int] | None = None,
    keep_layout: bool = False,
) -> Graph:
    """The graph of an ONNX model, with its weights. Images are [N, H, W, C] at inputs and outputs,
    the first dimension of every input is the batch, and initializers are parameters of their names.
    The guide's page on ONNX says what is offered.

    Args:
        path: NAME.onnx; data in files beside it is read, too
        dims: sizes of dimensions that the model leaves open, by their names
        keep_layout: images stay [N, C, H, W] at inputs and outputs

    Raises RuntimeError naming the file and the node at fault where the file is damaged, or an operator
    or one of its settings is not offered.
    """
    require("import_onnx", keep_layout=(keep_layout, (bool, "True or False")))
    sizes = {name: int(size) for name, size in (dims or {}).items()}
    return _core.import_onnx(os.fspath(path), sizes, keep_layout)


def apply_onnx(
    path: str | os.PathLike[str], inputs: Mapping[str, Any], *, graph: Graph | None = None
) -> dict[str, Value]:
    """The results of an ONNX model, by name, as a part of the graph that its inputs belong to: within
    a function given to jit, for example. Axes are as ONNX has them; initializers are constants.

    Args:
        path: NAME.onnx
        inputs: a Value of a fixed shape for each input, or an array that is known beforehand, such as
            the shape of a Reshape
        graph: the graph, where no input is a Value
    """
    values = {name: x for name, x in inputs.items() if isinstance(x, Value)}
    if graph is None:
        if not values:
            raise ValueError("[apply_onnx] inputs: expected at least one thimble.Value, or a graph")
        graph = next(iter(values.values())).graph
    arrays = {name: np.array(x, order="C") for name, x in inputs.items() if name not in values}
    return _core.apply_onnx(os.fspath(path), graph, values, arrays)
