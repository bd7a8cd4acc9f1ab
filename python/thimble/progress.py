"""Progress of training: tqdm's bar where it is installed, a line of our own otherwise."""

from __future__ import annotations

import importlib
import sys
import time
from typing import Any

from ._core import EpochReport, Evaluation, StepReport
from .callbacks import Callback


def in_notebook() -> bool:
    """Whether a Jupyter kernel runs this."""
    return "ipykernel" in sys.modules


def is_wanted() -> bool:
    """Whether the output is a terminal or a notebook."""
    return in_notebook() or sys.stderr.isatty()


def _tqdm() -> Any:
    try:
        return importlib.import_module("tqdm.auto").tqdm
    except ImportError:
        return None


def summary(report: EpochReport) -> str:
    """ "loss 0.31, accuracy 0.91, validation loss 0.4 ..." """

    def numbers(evaluation: Evaluation, prefix: str) -> list[str]:
        metrics = [f"{prefix}{name} {value:.4g}" for name, value in evaluation.metrics.items()]
        return [f"{prefix}loss {evaluation.loss:.4g}", *metrics]

    parts = numbers(report.train, "")
    if report.validation is not None:
        parts += numbers(report.validation, "validation ")
    return ", ".join(parts)


class _Bar:
    """A bar in one line, drawn at most ten times a second."""

    def __init__(self, total: int, desc: str) -> None:
        self.total = total
        self.desc = desc
        self.done = 0
        self.drawn = 0.0
        self.note = ""

    def update(self, note: str) -> None:
        self.done += 1
        self.note = note
        if time.monotonic() - self.drawn > 0.1:
            self.draw()

    def draw(self) -> None:
        self.drawn = time.monotonic()
        share = f"{self.done}/{self.total}" if self.total else f"{self.done}"
        filled = 20 * self.done // self.total if self.total else 0
        bar = f"|{'#' * filled}{'.' * (20 - filled)}| " if self.total else ""
        print(f"\r{self.desc} {bar}{share} {self.note}\x1b[K", end="", file=sys.stderr, flush=True)

    def close(self, note: str) -> None:
        self.note = note
        self.draw()
        print(file=sys.stderr, flush=True)


class _TqdmBar:
    def __init__(self, tqdm: Any, total: int, desc: str) -> None:
        self.bar = tqdm(total=total or None, desc=desc, unit="step", leave=True)

    def update(self, note: str) -> None:
        self.bar.set_postfix_str(note, refresh=False)
        self.bar.update(1)

    def close(self, note: str) -> None:
        self.bar.set_postfix_str(note)
        self.bar.close()


class ProgressBar(Callback):
    """A bar for each epoch, with the present loss."""

    def __init__(self, epochs: int) -> None:
        self.epochs = epochs
        self.bar: _Bar | _TqdmBar | None = None

    def on_step(self, report: StepReport) -> None:
        if self.bar is None:
            desc = f"epoch {report.epoch + 1}/{self.epochs}"
            tqdm = _tqdm()
            total = report.batches
            self.bar = _TqdmBar(tqdm, total, desc) if tqdm else _Bar(total, desc)
        self.bar.update(f"loss {report.loss:.4g}, {report.milliseconds:.2f} ms/step")

    def on_epoch(self, report: EpochReport) -> None:
        self.close(f"{summary(report)}, {report.seconds:.1f} s")

    def close(self, note: str = "stopped") -> None:
        """Ends the line of an epoch that did not end."""
        if self.bar is not None:
            self.bar.close(note)
        self.bar = None
