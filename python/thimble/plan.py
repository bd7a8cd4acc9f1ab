"""The memory plan of a training step."""

from __future__ import annotations

import os
import pathlib

from . import _core
from ._svg import timeline


class Picture:
    """An SVG picture: notebooks show it, save writes it."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture."""
        pathlib.Path(path).write_text(self.svg, encoding="utf-8")


class Plan:
    """The memory of a training step, exact to the byte, known before anything runs. print shows it
    as a table.

    planned_peak_bytes: everything a step touches, without the input pipeline
    lower_bound_bytes: no packing of this order can be smaller
    parameter_bytes, state_bytes, constant_bytes: weights, optimizer state, fixed tensors
    read_only_bytes: the part of parameter_bytes that no step changes
    parameters, trained_parameters: elements of the weights, and those that a step changes
    saved_state_bytes: what 8-bit moments save against 32-bit ones
    arena_bytes: inputs, activations, gradients and workspaces, packed
    activation_peak_bytes: the largest sum alive in the arena, without workspaces
    workspace_bytes: the largest scratch memory of one op
    staging_bytes, swap_file_bytes: bounce buffers in memory, and the file on the disk
    no_swap: why there can be no swap file, if one was asked for; else empty
    input_pipeline_bytes, reserved_bytes: set aside for reading samples, and for constants of smaller
        batches and the tables of a program file; the peak and these together are a budget that works
    batch, micro_batches: samples of a step, and the number of parts they are computed in
    budget_bytes: the budget asked for, or 0
    fits: whether it is kept
    nearest_feasible_bytes: the smallest budget found that can be kept; 0 if it was not looked for
    strategies: the means that reduced the peak, in order, each with name, detail, saved_bytes,
        left_bytes, extra_flops, extra_io_bytes, predicted_ms and lossless
    swap_read_bytes, swap_written_bytes: per step
    swap_busy_ms, swap_stall_ms, step_ms: predicted, per step: how long the swap file is busy, how
        long the step waits for it, and the step's time
    buffers, steps: every buffer of the arena, every op
    """

    def __init__(self, plan: _core.MemoryPlan) -> None:
        self._plan = plan
        self.planned_peak_bytes = plan.planned_peak_bytes
        self.lower_bound_bytes = plan.lower_bound_bytes
        self.parameter_bytes = plan.parameter_bytes
        self.read_only_bytes = plan.read_only_bytes
        self.parameters = plan.parameters
        self.trained_parameters = plan.trained_parameters
        self.state_bytes = plan.state_bytes
        self.saved_state_bytes = plan.saved_state_bytes
        self.constant_bytes = plan.constant_bytes
        self.arena_bytes = plan.arena_bytes
        self.activation_peak_bytes = plan.activation_peak_bytes
        self.workspace_bytes = plan.workspace_bytes
        self.staging_bytes = plan.staging_bytes
        self.input_pipeline_bytes = plan.input_pipeline_bytes
        self.reserved_bytes = plan.reserved_bytes
        self.swap_file_bytes = plan.swap_file_bytes
        self.no_swap = plan.no_swap
        self.batch = plan.batch
        self.micro_batches = plan.micro_batches
        self.budget_bytes = plan.budget_bytes
        self.fits = plan.fits
        self.nearest_feasible_bytes = plan.nearest_feasible_bytes
        self.swap_read_bytes = plan.swap_read_bytes
        self.swap_written_bytes = plan.swap_written_bytes
        self.swap_busy_ms = plan.swap_busy_ms
        self.swap_stall_ms = plan.swap_stall_ms
        self.step_ms = plan.step_ms
        self.strategies = plan.strategies
        self.buffers = plan.buffers
        self.steps = plan.steps

    def __repr__(self) -> str:
        return self._plan.text()

    def table(self, largest_buffers: int = 8) -> str:
        """The peak, what it is made of, and the largest buffers at the peak."""
        return self._plan.text(largest_buffers)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Picture:
        """The arena over one step: which buffer lies where, from which op to which.

        path: .svg writes the picture, .html a page on which every buffer can be pointed at.
        Returns the picture, which a notebook shows."""
        picture = Picture(timeline(self._plan))
        if path is not None:
            name = os.fspath(path)
            if name.endswith(".html"):
                pathlib.Path(name).write_text(self._plan.html("memory plan"), encoding="utf-8")
            elif name.endswith(".svg"):
                picture.save(name)
            else:
                raise ValueError(f"[plot] expected a path that ends in .svg or .html, got {name}")
        return picture
