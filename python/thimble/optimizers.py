"""The optimizers, with the meanings and defaults of PyTorch's."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Optimizer:
    """What all optimizers share: settings that the trainer reads."""

    lr: float = 1e-3

    def _text(self) -> str:
        """In the command line's spelling: "adamw:lr=0.001,..."."""
        settings = []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name == "betas":
                settings += [f"beta1={value[0]!r}", f"beta2={value[1]!r}"]
            elif field.name == "eps":
                settings.append(f"epsilon={value!r}")
            elif isinstance(value, bool):
                settings += [field.name] if value else []
            else:
                settings.append(f"{field.name}={float(value)!r}")
        return f"{type(self).__name__.lower()}:{','.join(settings)}"


@dataclasses.dataclass(frozen=True)
class SGD(Optimizer):
    """Stochastic gradient descent. weight_decay is added to the gradient, times the parameter;
    nesterov needs a momentum and no dampening. Sutskever et al. 2013."""

    momentum: float = 0.0
    dampening: float = 0.0
    nesterov: bool = False
    weight_decay: float = 0.0
    maximize: bool = False


@dataclasses.dataclass(frozen=True)
class Adam(Optimizer):
    """Kingma and Ba 2015; amsgrad: Reddi et al. 2018. weight_decay is added to the gradient."""

    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.0
    amsgrad: bool = False
    maximize: bool = False


@dataclasses.dataclass(frozen=True)
class AdamW(Optimizer):
    """Adam whose weight decay shrinks the parameter itself. Loshchilov and Hutter 2019."""

    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8
    weight_decay: float = 0.01
    amsgrad: bool = False
    maximize: bool = False


@dataclasses.dataclass(frozen=True)
class RMSProp(Optimizer):
    """Tieleman and Hinton 2012; centered: Graves 2013. epsilon_inside_root divides by
    sqrt(v + eps), not by sqrt(v) + eps."""

    lr: float = 1e-2
    alpha: float = 0.99
    eps: float = 1e-8
    momentum: float = 0.0
    centered: bool = False
    weight_decay: float = 0.0
    maximize: bool = False
    epsilon_inside_root: bool = False


@dataclasses.dataclass(frozen=True)
class ParamGroup:
    """Parameters with settings of their own: those whose names match the pattern ("*.bias"; *
    stands for any characters). The first group that matches counts."""

    pattern: str
    lr_scale: float = 1.0
    weight_decay: float | None = None


@dataclasses.dataclass(frozen=True)
class GradientClip:
    """A limit on gradients before the update. kind: "value" limits every element, "tensor_norm"
    the norm of each parameter's gradient, "global_norm" that of all together, as PyTorch's
    clip_grad_norm_."""

    limit: float
    kind: str = "global_norm"
