"""Programs: a training that is planned on one machine and runs on another without planning."""

from __future__ import annotations

import os
from typing import Any

from . import _core
from ._check import GRAPH, WHOLE, require
from ._core import Graph
from .plan import Plan
from .trainer import Trainer, _folder, _options, _whole


def compile_program(
    graph: Graph,
    path: str | os.PathLike[str],
    *,
    samples: int = 0,
    test_samples: int = 0,
    predict: bool = False,
    **options: Any,
) -> Plan:
    """Plans the training of thimble.Trainer(graph, **options) and writes it as one file, which
    load_program and the command thimble train run without planning, to the same bits. An old file
    is replaced at once.

    A last batch that is smaller than the others needs a program of its own: say how many samples
    there will be.

    Args:
        samples: of an epoch of training; 0: full batches alone
        test_samples: of an evaluation or a prediction; 0: full batches alone
        predict: whether the file can predict the graph's outputs, too
        options: those of thimble.Trainer; a schedule that is a function cannot be written

    Returns:
        the plan of a training step
    """
    require(
        "compile_program", graph=(graph, GRAPH), samples=(samples, WHOLE),
        test_samples=(test_samples, WHOLE), predict=(predict, (bool, "True or False")),
    )
    return Plan(_core.compile_program(
        graph, _options(graph, **options), os.fspath(path), _whole("samples", samples, 0),
        _whole("test_samples", test_samples, 0), predict,
    ))


def load_program(
    path: str | os.PathLike[str], *, swap_dir: str | os.PathLike[str] | None = None
) -> Trainer:
    """A Trainer of a program file. It has no graph and plans nothing: batches that the file holds no
    program for raise a ValueError that says so, and gradients() needs the graph.

    Raises RuntimeError naming file, offset and field where the file is damaged, of another version or
    no program.

    Args:
        swap_dir: the folder of the swap file, if the program has one; None: that of temporary files
    """
    return Trainer._of(_core.Trainer.load_program(os.fspath(path), _folder(swap_dir)))
