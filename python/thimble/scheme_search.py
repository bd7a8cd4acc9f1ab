"""Finding a sparse update: what parts of a network add when they are trained, and the best of them."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import _core
from ._batches import Feeder
from ._check import NUMBER, TEXT, WHOLE, require
from ._core import Dataset, Graph
from ._scheme import Scheme, scheme_text
from .model_files import graph_of
from .trainer import Trainer, _bytes, _options

MODEL = ((Graph, Trainer), "a thimble.Trainer or thimble.Graph")


@dataclasses.dataclass(frozen=True)
class BiasGain:
    """A training of the last layer and of biases.

    Attributes:
        last: the biases of so many last layers
        score: of the test samples
        gain: what it adds to the last layer alone
    """

    last: int
    score: float
    gain: float


@dataclasses.dataclass(frozen=True)
class WeightGain:
    """A training of the last layer, the biases down to a layer, and some of its weights.

    Attributes:
        layer: its name
        ratio: of its input channels
        biases: of so many last layers
        score: of the test samples
        gain: what the weights add to these biases
    """

    layer: str
    ratio: float
    biases: int
    score: float
    gain: float


@dataclasses.dataclass(frozen=True)
class Contributions:
    """What analyze returns: scores of a network after short trainings of its parts.

    Attributes:
        metric: what the scores are; "loss" counts negative
        last_layer: trained in every training
        base: score of the last layer alone
        biases: trainings of biases
        weights: trainings of a layer's weights
        settings: of these trainings, in words; empty in a file of an older version
        text: all of it as JSON
    """

    metric: str
    last_layer: str
    base: float
    biases: list[BiasGain]
    weights: list[WeightGain]
    settings: dict[str, str]
    text: str = dataclasses.field(repr=False)

    @classmethod
    def _of(cls, text: str) -> Contributions:
        made = json.loads(text)
        base = made["base"]
        biases = [BiasGain(one["last"], one["score"], one["score"] - base) for one in made["biases"]]
        below = {one.last: one.score for one in biases}
        weights = [
            WeightGain(**one, gain=one["score"] - below.get(one["biases"], base))
            for one in made["weights"]
        ]
        return cls(
            made["metric"], made["last_layer"], base, biases, weights, made.get("settings", {}), text
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Contributions:
        """Reads a file of save, or of thimble analyze."""
        return cls._of(_core.load_contributions(os.fspath(path)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes them for load, and for thimble search."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text)


@dataclasses.dataclass(frozen=True)
class AnalyzeProgress:
    """How far trainings of parts are.

    Attributes:
        done: trainings, those of the cache counted in
        total: trainings in all
        scheme: of the last one, as JSON
        score: of the last one
        seconds_left: by the mean of those made now; 0: not known
    """

    done: int
    total: int
    scheme: str
    score: float
    seconds_left: float


@dataclasses.dataclass(frozen=True)
class FoundScheme:
    """What search_scheme and verify_scheme return.

    Attributes:
        scheme: for Trainer and plan_training
        gain: sum of the gains of its parts; NaN of a candidate of yours
        bytes: planned peak of a step, as the budget counts it
        is_best: whether it is proved that no other scheme of these parts gains more
        score: of trainings of the whole scheme; None before verify_scheme
        others: candidates, after verify_scheme from the best to the worst
        plans: that were made
    """

    scheme: dict[str, Any]
    gain: float
    bytes: int
    is_best: bool
    score: float | None
    others: list[FoundScheme]
    plans: int
    _settings: dict[str, str] = dataclasses.field(repr=False)

    @classmethod
    def _of(cls, found: Any) -> FoundScheme:
        schemes, plans, settings = found
        made = [
            cls(json.loads(text), gain, size, is_best, score, [], plans, settings)
            for text, gain, size, is_best, score in schemes
        ]
        return dataclasses.replace(made[0], others=made[1:])

    def _core(self) -> Any:
        all_schemes = [
            (json.dumps(one.scheme), one.gain, one.bytes, one.is_best, one.score)
            for one in (self, *self.others)
        ]
        return all_schemes, self.plans, self._settings


Progress = Callable[[AnalyzeProgress], Any]


def _samples_of(graph: Graph, data: Any) -> Dataset:
    if isinstance(data, Dataset):
        return data
    feeder = Feeder(_core.graph_inputs(graph), _core.graph_labels(graph), with_labels=True)
    return feeder.table(data).dataset()


def _calls(on_progress: Progress | None) -> Any:
    if on_progress is None:
        return None
    return lambda values: on_progress(AnalyzeProgress(*values))


def analyze(
    model: Graph | Trainer,
    train: Any,
    test: Any,
    *,
    epochs: int = 1,
    metric: str = "",
    ratios: Sequence[float] = (0.125, 0.25, 0.5, 1.0),
    layers: Sequence[str] = (),
    most_biases: int = 0,
    cache: str | os.PathLike[str] = "",
    on_progress: Progress | None = None,
    **options: Any,
) -> Contributions:
    """Trains each part of a network by itself, from the model's weights, and scores it. Source: Lin
    et al., "On-Device Training Under 256KB Memory", 2022 (contribution analysis).

    Args:
        model: a Trainer, whose weights are taken, or a Graph with weights (load_model)
        train: samples that parts are trained on, as for fit
        test: samples that they are scored on
        epochs: of each training
        metric: of the graph, where more is better, or "loss", which counts negative; empty:
            "accuracy", of graphs without it the loss
        ratios: of a layer's input channels that are tried
        layers: names of layers whose weights are tried, * stands for any characters; none: all
        most_biases: the biases of at most so many last layers are tried; 0: of all
        cache: file of finished trainings, which are not made again
        on_progress: called after each training; if it returns True, analyze stops with an error
        options: those of the Trainer, such as optimizer and batch
    """
    require(
        "analyze", model=(model, MODEL), epochs=(epochs, WHOLE), metric=(metric, TEXT),
        most_biases=(most_biases, WHOLE),
    )
    graph = graph_of(model)
    return Contributions._of(_core.analyze(
        graph, _options(graph, **options), _samples_of(graph, train), _samples_of(graph, test),
        int(epochs), metric, [float(ratio) for ratio in ratios], list(layers), int(most_biases),
        os.fspath(cache), _calls(on_progress),
    ))


def search_scheme(
    model: Graph | Trainer,
    parts: Contributions,
    *,
    memory_budget: int | str,
    frozen_in_flash: bool = False,
    candidates: int = 0,
    given: Sequence[Scheme] = (),
    plans: int = 2000,
    instructions: float | None = None,
    core: str = "m7",
    **options: Any,
) -> FoundScheme:
    """The scheme whose parts gain most within a memory budget: exact, by branch and bound, as long
    as `plans` suffices; then an evolutionary search goes on.

    Args:
        model: that was analyzed
        parts: what analyze returned
        memory_budget: the most that the planned peak of a step may take, in bytes or as "256 KiB"
        frozen_in_flash: plan the step as exported C: what no step changes lies in flash and does
            not count
        candidates: other schemes for verify_scheme, the best where the gains differ by chance
        given: candidates of yours
        plans: before the exact search is cut short
        instructions: the most of a step, as predicted for exported C; None: no limit
        core: that they are predicted for: "m4", "m7" or "m55"
        options: those of the Trainer, on which the plan depends
    """
    require(
        "search_scheme", model=(model, MODEL),
        parts=(parts, (Contributions, "what thimble.analyze returned")),
        candidates=(candidates, WHOLE), plans=(plans, WHOLE), core=(core, TEXT),
        instructions=(0.0 if instructions is None else instructions, NUMBER),
    )
    if instructions is not None and not instructions > 0:
        raise ValueError(f"[instructions] must be above 0, got {instructions}")
    graph = graph_of(model)
    return FoundScheme._of(_core.search_scheme(
        graph, parts.text, _options(graph, **options), _bytes("memory_budget", memory_budget),
        bool(frozen_in_flash), int(plans), int(candidates), [scheme_text(one) for one in given],
        float(instructions or 0.0), core,
    ))


def verify_scheme(
    model: Graph | Trainer,
    found: FoundScheme,
    train: Any,
    test: Any,
    *,
    epochs: int = 1,
    metric: str = "",
    cache: str | os.PathLike[str] = "",
    trainings: int = 1,
    on_progress: Progress | None = None,
    **options: Any,
) -> FoundScheme:
    """The scheme that trains best, of a found one and its candidates: each is trained as analyze
    trains a part. Settings that are not those of analyze are refused.

    Args:
        model: that was analyzed
        found: what search_scheme returned
        train: samples to train on, as for analyze
        test: samples to score on
        epochs: of each training
        metric: as for analyze
        cache: file of finished trainings, which are not made again
        trainings: of each scheme, with as many seeds from `seed` on, whose mean score counts
        on_progress: called after each training; if it returns True, this stops with an error
        options: those of the Trainer
    """
    require(
        "verify_scheme", model=(model, MODEL),
        found=(found, (FoundScheme, "what thimble.search_scheme returned")),
        epochs=(epochs, WHOLE), metric=(metric, TEXT), trainings=(trainings, WHOLE),
    )
    graph = graph_of(model)
    return FoundScheme._of(_core.verify_scheme(
        graph, found._core(), _options(graph, **options), _samples_of(graph, train),
        _samples_of(graph, test), int(epochs), metric, os.fspath(cache), int(trainings),
        _calls(on_progress),
    ))


def predict_instructions(
    model: Graph | Trainer, *, core: str = "m7", scheme: Mapping[str, Any] | None = None, **options: Any
) -> float:
    """Instructions of a training step of exported C, as the model of thimble.search_scheme predicts
    them.

    Args:
        model: to train
        core: "m4", "m7" or "m55"
        scheme: of a sparse update; None: all is trained
        options: those of the Trainer
    """
    require("predict_instructions", model=(model, MODEL), core=(core, TEXT))
    graph = graph_of(model)
    return float(
        _core.predict_instructions(graph, _options(graph, scheme=scheme, **options), core)
    )
