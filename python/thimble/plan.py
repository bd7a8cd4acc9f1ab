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
    """What a training step takes, to the byte, known before anything runs. print shows the table.

    Sizes in bytes: planned_peak_bytes (all a step touches beside the input pipeline),
    lower_bound_bytes, parameter_bytes, state_bytes, constant_bytes, arena_bytes,
    activation_peak_bytes, workspace_bytes, staging_bytes, swap_file_bytes (on the disk),
    input_pipeline_bytes; reserved_bytes, set aside for constants of smaller batches. The peak, the
    input pipeline and these together are a budget that works. buffers: every buffer of the arena;
    steps: every op. saved_state_bytes: what moments of 8 bits save against 32. no_swap: why there
    can be no swap file, where one was wanted; else empty.
    batch: samples of a step; micro_batches: the parts that they are computed in.
    budget_bytes: what was asked for, or 0; fits: whether it is kept; nearest_feasible_bytes: the
    smallest budget found that can be, or 0 where it was not looked for: plan_training does, and
    refusals. strategies: by which means the step came
    to its size, in their order, each with name, detail, saved_bytes, left_bytes, extra_flops,
    extra_io_bytes, predicted_ms and lossless.
    swap_read_bytes, swap_written_bytes, swap_busy_ms (the time that the file takes), swap_stall_ms
    (the part of it that the step waits) and step_ms: predicted for a step.
    """

    def __init__(self, plan: _core.MemoryPlan) -> None:
        self._plan = plan
        self.planned_peak_bytes = plan.planned_peak_bytes
        self.lower_bound_bytes = plan.lower_bound_bytes
        self.parameter_bytes = plan.parameter_bytes
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
        """The peak, what it is made of, and the largest buffers at the fullest moment."""
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
