"""What fit tells while it trains."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ._core import EpochReport, StepReport

if TYPE_CHECKING:
    from .trainer import Trainer


class Callback:
    """Derive from it and give it to fit. Whatever returns True ends training, after the step or
    epoch; what it raises comes out of fit. The trainer may be used (evaluate, predict, save ...)."""

    trainer: Trainer

    def on_step(self, report: StepReport) -> bool | None:
        """After every step."""

    def on_epoch(self, report: EpochReport) -> bool | None:
        """After every epoch."""


# A plain function is told of every epoch.
CallbackLike = Callback | Callable[[EpochReport], bool | None]
