"""The base class of optimizers, and settings beside them."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import Any, ClassVar

import numpy as np

from . import _core
from ._arrays import Array, as_array, to_dtype
from ._tree import drawn, flatten, unflatten


@dataclasses.dataclass(frozen=True)
class OptimizerState:
    """The states that an optimizer keeps for some parameters: Optimizer.init makes it, Optimizer.update returns
    the next one. Immutable.

    Args:
        updates: for each parameter, in the order of a flattened tree, how many it had: an update
            without its gradient is none
        leaves: for each parameter, arrays by name: "exp_avg", ...
    """

    updates: tuple[int, ...]
    leaves: tuple[dict[str, Array], ...]


@functools.lru_cache(maxsize=256)
def _rule(text: str, shape: tuple[int, ...]) -> _core.Update:
    return _core.Update(text, list(shape))


def _parameter(x: Any, what: str = "parameters") -> Array:
    array = as_array(x)
    if array.dtype.kind != "f":
        raise ValueError(
            f"[update] {what} are floating point, got an array of {array.dtype}; integers are not "
            "trained"
        )
    return to_dtype(array, "f32", "update")


@dataclasses.dataclass(frozen=True)
class Optimizer:
    """Settings of an optimizer, which a Trainer takes. lr: the learning rate.

    For a training loop of one's own, init and update are functions of arrays:

        optimizer = tb.AdamW(lr=1e-3)
        state = optimizer.init(params)
        loss, grads = tb.value_and_grad(loss_of)(params, batch)
        params, state = optimizer.update(params, grads, state)
    """

    _name: ClassVar[str] = ""
    _pairs: ClassVar[dict[str, tuple[str, str]]] = {}

    lr: float = 1e-3

    def _text(self) -> str:
        """In the command line's spelling: "adamw:lr=0.001,..."."""
        settings = []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name in self._pairs:
                names = self._pairs[field.name]
                if not isinstance(value, (tuple, list)) or len(value) != len(names):
                    raise ValueError(
                        f"[{type(self).__name__}] {field.name} must be {len(names)} numbers "
                        f"({', '.join(names)}), got {value!r}"
                    )
                settings += [f"{name}={part}" for name, part in zip(names, value)]
                continue
            if isinstance(field.default, bool) and value in (True, False):
                value = "true" if value else "false"
            name = "epsilon" if field.name == "eps" else field.name
            settings.append(f"{name}={value}")
        return f"{self._name}:{','.join(settings)}"

    def init(self, params: Any) -> OptimizerState:
        """The states of these parameters before the first update. params: an array,
        or nested dictionaries, lists and tuples of them."""
        rules = [_rule(self._text(), np.shape(_parameter(p))) for p in flatten(params)[0]]
        return OptimizerState((0,) * len(rules), tuple(dict(rule.first()) for rule in rules))

    def update(
        self, params: Any, grads: Any, state: OptimizerState, lr: float | None = None
    ) -> tuple[Any, OptimizerState]:
        """The parameters after an update, as float32 arrays, and the next state. The arguments do not
        change. The bits are those of a Trainer. Other floating-point types are rounded to float32.

        Args:
            params: as init takes them
            grads: the gradients, of the same structure; None in the place of one leaves its
                parameter as it is
            state: of init or of the update before
            lr: a learning rate instead of the optimizer's, such as a schedule's; finite, at least 0
        """
        rate = self.lr if lr is None else lr
        if not (math.isfinite(rate) and rate >= 0):
            raise ValueError(f"[update] lr must be finite and not negative, got {lr}")
        leaves, structure = flatten(params)
        gradients, given = flatten(grads)
        if given != structure:
            raise ValueError(
                f"[update] gradients must have the structure of the parameters, {drawn(structure)}, "
                f"got {drawn(given)}"
            )
        if len(leaves) != len(state.leaves):
            raise ValueError(
                f"[update] the state is one of {len(state.leaves)} parameters, got {len(leaves)}; "
                "init makes one for these"
            )
        after: list[Any] = []
        updates: list[int] = []
        kept: list[dict[str, Array]] = []
        for param, grad, number, own in zip(leaves, gradients, state.updates, state.leaves):
            if grad is not None:
                array = _parameter(param)
                gradient = _parameter(grad, "gradients")
                number += 1
                param, *arrays = _rule(self._text(), array.shape).run(
                    array, gradient, list(own.values()), rate, number
                )
                own = dict(zip(own, arrays))
            after.append(param)
            updates.append(number)
            kept.append(own)
        return unflatten(structure, iter(after)), OptimizerState(tuple(updates), tuple(kept))


@dataclasses.dataclass(frozen=True)
class ParamGroup:
    """Settings for the parameters whose names match a pattern. The first group that matches counts.

    Args:
        pattern: of names, such as "*.bias"; * stands for any characters
        lr_scale: factor of the learning rate
        weight_decay: instead of the optimizer's
        l1, l2: penalties; gradients are those of the loss + l1 * sum(|p|) + l2 / 2 * sum(p^2)
        clip_limit: instead of the limit of the trainer's clip; 0: these gradients are not limited,
            and no part of the global norm
        frozen: not changed by this training; needs neither gradient nor optimizer state
    """

    pattern: str
    lr_scale: float = 1.0
    weight_decay: float | None = None
    l1: float = 0.0
    l2: float = 0.0
    frozen: bool = False
    clip_limit: float | None = None


@dataclasses.dataclass(frozen=True)
class Objective:
    """One of several losses of a training, for the parameters whose names match its pattern: a
    generative adversarial network has one for "generator.*" and one for "discriminator.*".

    Args:
        loss: a metric of the graph
        parameters: pattern of names, such as "generator.*"; * stands for any characters
        optimizer: instead of the trainer's; a schedule changes its learning rate in proportion
    """

    loss: str
    parameters: str
    optimizer: Optimizer | str | None = None


@dataclasses.dataclass(frozen=True)
class GradientClip:
    """A limit on gradients before the update.

    Args:
        limit: above 0
        kind: "value" limits every element, "tensor_norm" the norm of each parameter's gradient,
            "global_norm" the norm of all gradients together, like PyTorch's clip_grad_norm_
    """

    limit: float
    kind: str = "global_norm"
