"""Callbacks of fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ._core import EpochReport, StepReport

if TYPE_CHECKING:
    from .trainer import Trainer


class Callback:
    """A base class of objects that fit calls after every step and epoch. A method that returns True
    ends training; an exception passes through fit. The methods may use the trainer (evaluate,
    predict, save ...)."""

    trainer: Trainer

    def on_step(self, report: StepReport) -> bool | None:
        """After every step."""

    def on_epoch(self, report: EpochReport) -> bool | None:
        """After every epoch."""


# A plain function is called after every epoch.
CallbackLike = Callback | Callable[[EpochReport], bool | None]
