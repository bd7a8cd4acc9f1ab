"""A trained network as a network of int8: after training, or trained for it."""

from __future__ import annotations

import dataclasses
from typing import Any

from . import _core
from ._batches import Feeder
from ._check import NUMBER, TEXT, WHOLE, require
from ._core import Dataset, Graph
from .model_files import graph_of
from .trainer import Trainer


@dataclasses.dataclass(frozen=True)
class QuantizedLayer:
    """A layer that computes on int8.

    Attributes:
        name: of the layer; of an op without one the op and a number
        op: on int8
        scale: of its result
        zero_point: of its result
        sqnr_db: signal-to-quantization-noise ratio of its result against that in f32, in decibels;
            infinite where they are equal
    """

    name: str
    op: str
    scale: float
    zero_point: int
    sqnr_db: float


@dataclasses.dataclass(frozen=True)
class FloatLayer:
    """A layer that stays f32, and why.

    Attributes:
        name: of the layer; of an op without one the op and a number
        op: on f32
        reason: why it has no int8 form
    """

    name: str
    op: str
    reason: str


@dataclasses.dataclass(frozen=True)
class QuantizedModel:
    """What quantize_model returns.

    Attributes:
        graph: of int8, with its weights: for Predictor and save_model
        layers: those that compute on int8
        float_layers: those that stay f32
    """

    graph: Graph
    layers: list[QuantizedLayer]
    float_layers: list[FloatLayer]


@dataclasses.dataclass(frozen=True)
class QatModel:
    """What prepare_qat returns.

    Attributes:
        graph: of f32, with its weights: for Trainer and then quantize_model
        float_layers: those that quantize_model will leave on f32
    """

    graph: Graph
    float_layers: list[FloatLayer]


def _samples_of(graph: Graph, data: Any) -> Dataset:
    if isinstance(data, Dataset):
        return data
    return Feeder(_core.graph_inputs(graph), {}, with_labels=False).table(data).dataset()


def quantize_model(
    model: Graph | Trainer,
    data: Any,
    *,
    calibration: str = "minmax",
    percentile: float = 99.99,
    samples: int = 256,
    batch: int = 8,
    requantization: str = "float",
    int8_inputs: bool = False,
    int8_outputs: bool = False,
    threads: int = 0,
) -> QuantizedModel:
    """Quantizes a trained model: weights and activations of int8, without training. Batch norms are
    folded into the weights before them; layers without an int8 form stay f32. A model that
    prepare_qat made keeps the scales that it was trained with. (thimble.quantize is the op that
    makes numbers int8.)

    Args:
        model: a Trainer, whose weights are taken, or a Graph with weights (load_model)
        data: samples to choose the ranges of activations from: a Dataset, or arrays as for predict
        calibration: how a range is chosen: "minmax", from the least to the largest value;
            "percentile", without the outermost values; "mse", the range of the least mean square
            error
        percentile: of "percentile": percent of the values inside the range
        samples: the first ones of the data to calibrate with
        batch: samples computed at once; the result does not depend on it
        requantization: how sums become int8: "float", times a scale of f32, or "fixed_point", by
            the integers of TensorFlow Lite
        int8_inputs: inputs of f32 become inputs of int8
        int8_outputs: outputs of int8 layers are int8
        threads: 0 for one per processor
    """
    flag = (bool, "True or False")
    require(
        "quantize_model", model=(model, ((Graph, Trainer), "a thimble.Trainer or thimble.Graph")),
        calibration=(calibration, TEXT), percentile=(percentile, NUMBER), samples=(samples, WHOLE),
        batch=(batch, WHOLE), requantization=(requantization, TEXT),
        int8_inputs=(int8_inputs, flag), int8_outputs=(int8_outputs, flag),
        threads=(threads, WHOLE),
    )
    graph = graph_of(model)
    made, layers, float_layers = _core.quantize_model(
        graph, _samples_of(graph, data), calibration, float(percentile), int(samples), int(batch),
        requantization,
        int8_inputs, int8_outputs, int(threads),
    )
    return QuantizedModel(
        made,
        [QuantizedLayer(*layer) for layer in layers],
        [FloatLayer(*layer) for layer in float_layers],
    )


def prepare_qat(
    model: Graph | Trainer,
    data: Any,
    *,
    weight_bits: int = 8,
    calibration: str = "minmax",
    percentile: float = 99.99,
    samples: int = 256,
    batch: int = 8,
    threads: int = 0,
) -> QatModel:
    """Prepares a trained model for quantization-aware training: a model of f32 that computes what
    the int8 model will compute, and trains. What int8 layers read and give is rounded to the steps
    of their integers (fake_quantize), and the scales are parameters. Train it with any optimizer,
    then call quantize_model. Source: Esser et al., "Learned Step Size Quantization", ICLR 2020.

    Args:
        model: a Trainer, whose weights are taken, or a Graph with weights (load_model)
        data: samples to choose the scales at the start from, as for quantize_model
        weight_bits: bits that integers of weights use, 2 to 8; they are stored as int8
        calibration: as for quantize_model
        percentile: as for quantize_model
        samples: the first ones of the data to calibrate with
        batch: samples computed at once; the result does not depend on it
        threads: 0 for one per processor
    """
    require(
        "prepare_qat", model=(model, ((Graph, Trainer), "a thimble.Trainer or thimble.Graph")),
        weight_bits=(weight_bits, WHOLE), calibration=(calibration, TEXT),
        percentile=(percentile, NUMBER), samples=(samples, WHOLE), batch=(batch, WHOLE),
        threads=(threads, WHOLE),
    )
    graph = graph_of(model)
    made, float_layers = _core.prepare_qat(
        graph, _samples_of(graph, data), int(weight_bits), calibration, float(percentile),
        int(samples), int(batch), int(threads),
    )
    return QatModel(made, [FloatLayer(*layer) for layer in float_layers])
