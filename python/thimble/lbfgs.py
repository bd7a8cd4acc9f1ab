"""L-BFGS: trains small models on all their samples at once, or minimizes a function of arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _core
from ._arrays import Array, as_array
from ._tree import drawn, flatten, unflatten
from .trainer import Trainer


def _flat(arrays: list[Array]) -> Array:
    return np.concatenate([np.asarray(a, np.float64).ravel() for a in arrays])


def _parts(x: Array, like: list[Array]) -> list[Array]:
    """The vector cut into arrays of these shapes and types."""
    ends = np.cumsum([a.size for a in like])[:-1]
    return [part.reshape(a.shape).astype(a.dtype) for part, a in zip(np.split(x, ends), like)]


class LBFGS:
    """Limited-memory BFGS with the settings, decisions and defaults of torch.optim.LBFGS.

    It evaluates the loss and its gradient several times for each step, and carries what it learned of
    the curvature from one step to the next:

        lbfgs = tb.LBFGS(line_search="strong_wolfe")
        for _ in range(10):
            loss = lbfgs.step(trainer, samples)

    Args:
        lr: length of a step, or of the first that a line search tries
        max_iter: iterations of a step
        max_eval: evaluations of a step; None: max_iter * 5 // 4
        tolerance_grad: ends a step where no element of the gradient is larger
        tolerance_change: likewise where the loss or no parameter changes by more
        history_size: pairs of changes that stand for the curvature
        line_search: None, or "strong_wolfe"
    """

    def __init__(
        self,
        lr: float = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search: str | None = None,
    ) -> None:
        if line_search not in (None, "strong_wolfe"):
            raise ValueError(f'[LBFGS] line_search is None or "strong_wolfe", got {line_search!r}')
        self._core = _core.Lbfgs(
            lr, max_iter, 0 if max_eval is None else max_eval, tolerance_grad, tolerance_change,
            history_size, line_search == "strong_wolfe",
        )

    def step(self, trainer: Trainer, data: Any) -> float:
        """Moves the trained parameters of a trainer; returns the loss before the step. data: all the
        samples, at most the trainer's batch, as Trainer.gradients takes them. The trainer's optimizer,
        steps and running statistics stay as they are. If the loss is not finite, the parameters stay as
        they were before the step."""
        gradients = trainer.gradients(data)
        names = list(gradients)
        before = {name: trainer.parameters[name].copy() for name in names}
        like = list(before.values())
        first = [gradients]

        def objective(x: Array) -> tuple[float, Array]:
            if first:
                found = first.pop()  # at the parameters as they are
            else:
                trainer.load_state_dict(dict(zip(names, _parts(x, like))), strict=False)
                found = trainer.gradients(data)
            return found.loss, _flat([found[name] for name in names])

        try:
            loss, x = self._core.step(_flat(like), objective)
        except BaseException:
            trainer.load_state_dict(before, strict=False)
            raise
        trainer.load_state_dict(dict(zip(names, _parts(x, like))), strict=False)
        return loss

    def minimize(self, function: Callable[[Any], tuple[Any, Any]], x: Any) -> tuple[Any, float]:
        """One step from x, an array or nested dictionaries, lists and tuples of them: x after it, and
        the function's value before. function(x) returns its value and its gradient, which has the
        structure of x, as thimble.value_and_grad(f) does. Computes in double precision; x keeps its
        element types."""
        leaves, structure = flatten(x)
        like = [np.asarray(as_array(leaf)) for leaf in leaves]
        like = [a if a.dtype.kind == "f" else a.astype(np.float64) for a in like]

        def objective(now: Array) -> tuple[float, Array]:
            value, gradient = function(unflatten(structure, iter(_parts(now, like))))
            slopes, given = flatten(gradient)
            if given != structure:
                raise ValueError(
                    f"[LBFGS] the gradient must have the structure of x, {drawn(structure)}, "
                    f"got {drawn(given)}"
                )
            slopes = [as_array(slope) for slope in slopes]
            for slope, at in zip(slopes, like):
                if slope.shape != at.shape:
                    raise ValueError(
                        f"[LBFGS] the gradient must have the shapes of x: expected {at.shape}, "
                        f"got {slope.shape}"
                    )
            return float(value), _flat(slopes)

        value, after = self._core.step(_flat(like), objective)
        return unflatten(structure, iter(_parts(after, like))), value

    @property
    def iterations(self) -> int:
        """Iterations since the start."""
        return self._core.iterations

    @property
    def evaluations(self) -> int:
        """Evaluations since the start."""
        return self._core.evaluations
