"""Sparse updates: which channels are trained."""

from __future__ import annotations

import json
from typing import Any

from . import _core
from ._batches import Feeder
from ._core import Dataset, Graph
from ._scheme import Scheme
from .trainer import _options


def choose_channels(
    graph: Graph,
    data: Any,
    scheme: Scheme,
    **options: Any,
) -> dict[str, Any]:
    """A scheme of a sparse update with lists of channels in the place of ratios: with
    {"choice": "contribution"} those of the largest |gradient * weight| for the mean loss of the
    data, else those of the largest weights. data: as for fit; options: those of the Trainer."""
    if isinstance(data, Dataset):
        samples = data
    else:
        feeder = Feeder(_core.graph_inputs(graph), _core.graph_labels(graph), with_labels=True)
        samples = feeder.table(data).dataset()
    chosen = _core.choose_channels(graph, _options(graph, scheme=scheme, **options), samples)
    return dict(json.loads(chosen))
