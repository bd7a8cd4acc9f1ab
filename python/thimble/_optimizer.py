"""What all optimizers share, and settings beside them."""

from __future__ import annotations

import dataclasses
from typing import ClassVar


@dataclasses.dataclass(frozen=True)
class Optimizer:
    """Settings of an optimizer, which a Trainer takes. lr: the learning rate."""

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
                settings += [f"{name}={part}" for name, part in zip(names, value, strict=True)]
            elif isinstance(value, bool):
                settings += [field.name] if value else []
            else:
                name = "epsilon" if field.name == "eps" else field.name
                settings.append(f"{name}={value}")
        return f"{self._name}:{','.join(settings)}"


@dataclasses.dataclass(frozen=True)
class ParamGroup:
    """Settings for the parameters whose names match a pattern. The first group that matches counts.

    Args:
        pattern: of names, such as "*.bias"; * stands for any characters
        lr_scale: factor of the learning rate
        weight_decay: instead of the optimizer's
        l1, l2: penalties; gradients are those of the loss + l1 * sum(|p|) + l2 / 2 * sum(p^2)
        frozen: not changed by this training; needs neither gradient nor optimizer state
    """

    pattern: str
    lr_scale: float = 1.0
    weight_decay: float | None = None
    l1: float = 0.0
    l2: float = 0.0
    frozen: bool = False


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
