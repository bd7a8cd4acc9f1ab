"""A graph run forward, without a loss."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from . import _core
from ._arrays import Array
from ._batches import Feeder
from ._check import GRAPH, TRUTH, WHOLE, require
from ._core import Graph
from ._weights import Weights, chosen, written
from .files import load_safetensors
from .plan import Plan


class Predictor(Weights):
    """A graph compiled for inference: the whole of a trained model or a part, such as a decoder.

    Args:
        weights: its parameters and running statistics by name: a safetensors file (a checkpoint,
            too), a dictionary, or a Trainer; names that the graph lacks are ignored; None: those
            that load_model gave the graph
        batch: samples computed at once
        threads: 0 for one per processor
        reference_kernels: run these alone, far slower: the same bits as C sources and thimble-micro
    """

    def __init__(
        self,
        graph: Graph,
        weights: str | os.PathLike[str] | Mapping[str, Any] | Weights | None = None,
        *,
        batch: int = 32,
        threads: int = 0,
        reference_kernels: bool = False,
    ) -> None:
        require("Predictor", graph=(graph, GRAPH), batch=(batch, WHOLE), threads=(threads, WHOLE),
                reference_kernels=(reference_kernels, TRUTH))
        self._core: _core.Predictor = _core.Predictor(graph, batch, threads, reference_kernels)
        if weights is None:
            self._core.require_values()
            return
        if isinstance(weights, Weights):
            state: Mapping[str, Any] = weights.parameters
        elif isinstance(weights, Mapping):
            state = weights
        else:
            state = load_safetensors(weights)
        missing = [name for name in self.parameters if name not in state]
        if missing:
            raise ValueError(f"[Predictor] the weights lack {', '.join(missing)}")
        self.load_state_dict(state, strict=False)

    def predict(self, data: Any, output: str | None = None, *, out: Array | None = None) -> Any:
        """The graph's outputs for every sample, [samples, ...]: one array if the graph has one output
        or `output` names one, else a dictionary by name. data: as for a Trainer. out: a writable,
        C-contiguous array of the result's type and shape that takes it and is returned, so that a
        loop over small models allocates nothing; of one output."""
        result = self._core.predict_output(data, output, out)
        if result is not None:
            return result
        results = self._core.predict_array(data)  # None where it must be converted
        if results is None:
            source = Feeder(self._core.inputs(), {}, with_labels=False).source(data)
            results = self._core.predict(source)
        result = chosen(results, output)
        return result if out is None else written(result, out)

    def plan(self) -> Plan:
        """The memory plan of a batch."""
        return Plan(self._core.plan())
