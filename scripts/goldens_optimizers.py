#!/usr/bin/env python3
"""Writes tests/train/optimizer_goldens.json: what PyTorch does, for our optimizers to equal.

Usage: python scripts/goldens_optimizers.py   (made with PyTorch 2.13)
"""
import json
import pathlib
import re

import torch

STEPS = 12
OUT = pathlib.Path(__file__).parent.parent / "tests/train/optimizer_goldens.json"

# Settings as Optimizer::parse takes them, with PyTorch's class and arguments.
OPTIMIZERS = [
    ("sgd:lr=0.1", torch.optim.SGD, dict(lr=0.1)),
    ("sgd:lr=0.1,momentum=0.9", torch.optim.SGD, dict(lr=0.1, momentum=0.9)),
    ("sgd:lr=0.1,momentum=0.9,dampening=0.3", torch.optim.SGD,
     dict(lr=0.1, momentum=0.9, dampening=0.3)),
    ("sgd:lr=0.1,momentum=0.9,nesterov", torch.optim.SGD,
     dict(lr=0.1, momentum=0.9, nesterov=True)),
    ("sgd:lr=0.1,weight_decay=0.1,maximize", torch.optim.SGD,
     dict(lr=0.1, weight_decay=0.1, maximize=True)),
    ("sgd:lr=0.1,momentum=0.8,dampening=0.5,weight_decay=0.1,maximize", torch.optim.SGD,
     dict(lr=0.1, momentum=0.8, dampening=0.5, weight_decay=0.1, maximize=True)),
    ("adam", torch.optim.Adam, dict()),
    ("adam:lr=0.1,beta1=0.8,beta2=0.95,epsilon=0.01", torch.optim.Adam,
     dict(lr=0.1, betas=(0.8, 0.95), eps=0.01)),
    ("adam:lr=0.1,weight_decay=0.1", torch.optim.Adam, dict(lr=0.1, weight_decay=0.1)),
    ("adam:lr=0.1,beta2=0.7,amsgrad", torch.optim.Adam,
     dict(lr=0.1, betas=(0.9, 0.7), amsgrad=True)),
    ("adam:lr=0.1,weight_decay=0.1,amsgrad,maximize", torch.optim.Adam,
     dict(lr=0.1, weight_decay=0.1, amsgrad=True, maximize=True)),
    ("adamw", torch.optim.AdamW, dict()),
    ("adamw:lr=0.1,beta1=0.8,beta2=0.95,epsilon=0.01,weight_decay=0.2", torch.optim.AdamW,
     dict(lr=0.1, betas=(0.8, 0.95), eps=0.01, weight_decay=0.2)),
    ("adamw:lr=0.1,beta2=0.7,weight_decay=0.2,amsgrad", torch.optim.AdamW,
     dict(lr=0.1, betas=(0.9, 0.7), weight_decay=0.2, amsgrad=True)),
    ("adamw:lr=0.1,weight_decay=0.2,maximize", torch.optim.AdamW,
     dict(lr=0.1, weight_decay=0.2, maximize=True)),
    ("rmsprop", torch.optim.RMSprop, dict()),
    ("rmsprop:alpha=0.8,epsilon=0.01,weight_decay=0.1", torch.optim.RMSprop,
     dict(alpha=0.8, eps=0.01, weight_decay=0.1)),
    ("rmsprop:alpha=0.9,momentum=0.8", torch.optim.RMSprop, dict(alpha=0.9, momentum=0.8)),
    ("rmsprop:alpha=0.9,centered", torch.optim.RMSprop, dict(alpha=0.9, centered=True)),
    ("rmsprop:alpha=0.9,momentum=0.8,centered,weight_decay=0.1,maximize", torch.optim.RMSprop,
     dict(alpha=0.9, momentum=0.8, centered=True, weight_decay=0.1, maximize=True)),
]

# The rate and weight decay of the second parameter alone: parameter groups.
GROUP = ("adamw:lr=0.1,weight_decay=0.2", torch.optim.AdamW, dict(lr=0.1, weight_decay=0.2),
         dict(lr_scale=0.25, weight_decay=0.5))


def rounded(tensor):
    return [float(f"{v:.9g}") for v in tensor.detach().double().flatten().tolist()]


def inputs():
    """First values, and gradients of very different sizes: zero at first, tiny, usual, large,
    and one that is large once."""
    torch.manual_seed(1)
    gradients = torch.randn(STEPS, 5)
    gradients[:3, 0] = 0.0
    gradients[:, 1] *= 1e-4
    gradients[:, 3] *= 100.0
    gradients[1, 4] = 50.0
    return torch.randn(5), gradients, [0.95 ** i for i in range(STEPS)]


def trajectory(make, start, gradients, lr_factors):
    """The parameters after each step; make: parameters to optimizer."""
    params = [torch.nn.Parameter(value.clone()) for value in start]
    optimizer = make(params)
    rates = [group["lr"] for group in optimizer.param_groups]
    after = []
    for gradient, factor in zip(gradients, lr_factors):
        for group, rate in zip(optimizer.param_groups, rates):
            group["lr"] = rate * factor
        for param in params:
            param.grad = gradient.clone()
        optimizer.step()
        after.append([rounded(param) for param in params])
    return after


def inside_root(start, gradients, lr_factors, lr=0.01, alpha=0.9, epsilon=0.1):
    """RMSProp with epsilon inside the root, which PyTorch has not: eta / sqrt(v + eps)."""
    param, average = start.double(), torch.zeros(5, dtype=torch.float64)
    after = []
    for gradient, factor in zip(gradients.double(), lr_factors):
        average = alpha * average + (1 - alpha) * gradient ** 2
        param = param - lr * factor * gradient / (average + epsilon).sqrt()
        after.append(rounded(param))
    return {"settings": f"rmsprop:lr={lr},alpha={alpha},epsilon={epsilon},epsilon_inside_root",
            "after": after}


def clipped(kind, limit, clip, size=1.0):
    params = [torch.nn.Parameter(torch.zeros(3)), torch.nn.Parameter(torch.zeros(2, 2))]
    params[0].grad = torch.tensor([3.0, -4.0, 0.5])
    params[1].grad = torch.tensor([[0.1, 0.2], [-0.3, 0.4]])
    for param in params:
        param.grad *= size
    before = [rounded(p.grad) for p in params]
    clip(params, limit)
    return {"kind": kind, "limit": limit, "before": before, "after": [rounded(p.grad) for p in params]}


def each_norm(params, limit):
    for param in params:
        torch.nn.utils.clip_grad_norm_([param], limit)


def schedule(text, make, steps=STEPS):
    """A rate of 0.5 under one of PyTorch's schedulers."""
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.5)
    scheduler = make(optimizer)
    rates = []
    for _ in range(steps):
        rates.append(float(f"{optimizer.param_groups[0]['lr']:.12g}"))
        optimizer.step()
        scheduler.step()
    return {"settings": text, "rates": rates}


def schedules():
    lrs = torch.optim.lr_scheduler

    def warmed(optimizer):
        warmup = lrs.LinearLR(optimizer, start_factor=1 / 5, total_iters=4)
        cosine = lrs.CosineAnnealingLR(optimizer, T_max=8, eta_min=0.1)
        return lrs.SequentialLR(optimizer, [warmup, cosine], milestones=[4])

    return [
        schedule("constant", lambda o: lrs.ConstantLR(o, factor=1.0)),
        schedule("step:step_size=3,gamma=0.5", lambda o: lrs.StepLR(o, 3, gamma=0.5)),
        schedule("exponential:gamma=0.9", lambda o: lrs.ExponentialLR(o, gamma=0.9)),
        schedule("cosine:min=0.01", lambda o: lrs.CosineAnnealingLR(o, T_max=STEPS, eta_min=0.01)),
        schedule("cosine:min=0.01,decay_steps=5",
                 lambda o: lrs.CosineAnnealingWarmRestarts(o, T_0=5, eta_min=0.01)),
        schedule("linear:min=0.05,decay_steps=8",
                 lambda o: lrs.LinearLR(o, start_factor=1.0, end_factor=0.1, total_iters=8)),
        schedule("warmup:steps=4/cosine:min=0.1", warmed),
    ]


def main():
    start, gradients, lr_factors = inputs()
    cases = []
    for text, kind, arguments in OPTIMIZERS:
        after = trajectory(lambda p: kind(p, **arguments), [start], gradients, lr_factors)
        cases.append({"settings": text, "after": [step[0] for step in after]})
    cases.append(inside_root(start, gradients, lr_factors))

    text, kind, arguments, group = GROUP
    own = dict(lr=arguments["lr"] * group["lr_scale"], weight_decay=group["weight_decay"])
    groups = trajectory(
        lambda p: kind([dict(params=p[:1]), dict(params=p[1:], **own)], **arguments),
        [start, start], gradients, lr_factors)

    goldens = {
        "start": rounded(start),
        "gradients": [rounded(g) for g in gradients],
        "lr_factors": lr_factors,
        "optimizers": cases,
        "group": {"settings": text, **group, "after": groups},
        "clips": [
            clipped("value", 0.35, torch.nn.utils.clip_grad_value_),
            clipped("tensor_norm", 0.5, each_norm),
            clipped("tensor_norm", 1.0, each_norm),
            clipped("global_norm", 1.0, torch.nn.utils.clip_grad_norm_),
            clipped("global_norm", 100.0, torch.nn.utils.clip_grad_norm_),
            # Small enough for the 1e-6 beside the norm to count.
            clipped("global_norm", 1e-6, torch.nn.utils.clip_grad_norm_, size=1e-6),
        ],
        "schedules": schedules(),
    }
    lines = json.dumps(goldens, indent=1)
    # One list of numbers a line.
    lines = re.sub(r"\[\s+([^\[\]{}]*?)\s+\]", lambda m: "[" + " ".join(m[1].split()) + "]", lines)
    OUT.write_text(lines + "\n")


if __name__ == "__main__":
    main()
