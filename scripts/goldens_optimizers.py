#!/usr/bin/env python3
"""Writes tests/train/optimizer_goldens.json: PyTorch's results, which our optimizers are compared with.

Usage: python scripts/goldens_optimizers.py   (made with PyTorch 2.13)
"""
import json
import pathlib
import re
from unittest import mock

import numpy as np
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
    ("adam:lr=0.1,weight_decay=0.2,decoupled_weight_decay", torch.optim.Adam,
     dict(lr=0.1, weight_decay=0.2, decoupled_weight_decay=True)),
    ("adagrad", torch.optim.Adagrad, dict()),
    ("adagrad:lr=0.1,lr_decay=0.1,epsilon=0.01,weight_decay=0.1", torch.optim.Adagrad,
     dict(lr=0.1, lr_decay=0.1, eps=0.01, weight_decay=0.1)),
    ("adagrad:lr=0.1,initial_accumulator_value=0.5,maximize", torch.optim.Adagrad,
     dict(lr=0.1, initial_accumulator_value=0.5, maximize=True)),
    ("adadelta", torch.optim.Adadelta, dict()),
    ("adadelta:lr=0.5,rho=0.7,epsilon=0.01,weight_decay=0.1", torch.optim.Adadelta,
     dict(lr=0.5, rho=0.7, eps=0.01, weight_decay=0.1)),
    ("adadelta:rho=0.5,maximize", torch.optim.Adadelta, dict(rho=0.5, maximize=True)),
    ("adamax", torch.optim.Adamax, dict()),
    ("adamax:lr=0.1,beta1=0.8,beta2=0.7,epsilon=0.01,weight_decay=0.1", torch.optim.Adamax,
     dict(lr=0.1, betas=(0.8, 0.7), eps=0.01, weight_decay=0.1)),
    ("adamax:lr=0.1,maximize", torch.optim.Adamax, dict(lr=0.1, maximize=True)),
    ("nadam", torch.optim.NAdam, dict()),
    ("nadam:lr=0.1,beta1=0.8,beta2=0.95,epsilon=0.01,weight_decay=0.1,momentum_decay=0.1",
     torch.optim.NAdam,
     dict(lr=0.1, betas=(0.8, 0.95), eps=0.01, weight_decay=0.1, momentum_decay=0.1)),
    ("nadam:lr=0.1,weight_decay=0.2,decoupled_weight_decay,maximize", torch.optim.NAdam,
     dict(lr=0.1, weight_decay=0.2, decoupled_weight_decay=True, maximize=True)),
    ("radam", torch.optim.RAdam, dict()),
    ("radam:lr=0.1,beta1=0.8,beta2=0.9,epsilon=0.01,weight_decay=0.1", torch.optim.RAdam,
     dict(lr=0.1, betas=(0.8, 0.9), eps=0.01, weight_decay=0.1)),
    ("radam:lr=0.1,weight_decay=0.2,decoupled_weight_decay,maximize", torch.optim.RAdam,
     dict(lr=0.1, weight_decay=0.2, decoupled_weight_decay=True, maximize=True)),
    ("asgd", torch.optim.ASGD, dict()),
    ("asgd:lr=0.1,lambd=0.05,alpha=0.5,t0=2,weight_decay=0.1", torch.optim.ASGD,
     dict(lr=0.1, lambd=0.05, alpha=0.5, t0=2, weight_decay=0.1)),
    ("asgd:lr=0.1,maximize", torch.optim.ASGD, dict(lr=0.1, maximize=True)),
    ("sparse_adam", torch.optim.SparseAdam, dict()),
    ("sparse_adam:lr=0.1,beta1=0.8,beta2=0.95,epsilon=0.01,maximize", torch.optim.SparseAdam,
     dict(lr=0.1, betas=(0.8, 0.95), eps=0.01, maximize=True)),
    ("rprop", torch.optim.Rprop, dict()),
    ("rprop:lr=0.1,eta_minus=0.3,eta_plus=2,step_size_min=0.05,step_size_max=0.3",
     torch.optim.Rprop, dict(lr=0.1, etas=(0.3, 2.0), step_sizes=(0.05, 0.3))),
    ("rprop:lr=0.1,maximize", torch.optim.Rprop, dict(lr=0.1, maximize=True)),
    ("adafactor", torch.optim.Adafactor, dict()),
    ("adafactor:lr=0.5,beta2_decay=-0.5,epsilon1=0.001,epsilon2=0.9,d=1.5,weight_decay=0.1",
     torch.optim.Adafactor,
     dict(lr=0.5, beta2_decay=-0.5, eps=(0.001, 0.9), d=1.5, weight_decay=0.1)),
    ("adafactor:lr=0.1,maximize", torch.optim.Adafactor, dict(lr=0.1, maximize=True)),
]

# Optimizers whose rule depends on the parameter's shape: the same with matrices.
SHAPES = [[3, 4], [2, 3, 2]]

# The rate and weight decay of the second parameter alone: parameter groups.
GROUP = ("adamw:lr=0.1,weight_decay=0.2", torch.optim.AdamW, dict(lr=0.1, weight_decay=0.2),
         dict(lr_scale=0.25, weight_decay=0.5))


def rounded(tensor):
    return [float(f"{v:.9g}") for v in tensor.detach().double().flatten().tolist()]


def inputs():
    """Initial values, and gradients of very different sizes: zero at first, tiny, usual, large,
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
            if isinstance(optimizer, torch.optim.SparseAdam):
                rows = torch.arange(len(gradient))[None]
                param.grad = torch.sparse_coo_tensor(rows, gradient, check_invariants=True)
        optimizer.step()
        after.append([rounded(param) for param in params])
    return after


def inside_root(start, gradients, lr_factors, lr=0.01, alpha=0.9, epsilon=0.1):
    """RMSProp with epsilon inside the root, eta / sqrt(v + eps), which PyTorch lacks."""
    param, average = start.double(), torch.zeros(5, dtype=torch.float64)
    after = []
    for gradient, factor in zip(gradients.double(), lr_factors):
        average = alpha * average + (1 - alpha) * gradient ** 2
        param = param - lr * factor * gradient / (average + epsilon).sqrt()
        after.append(rounded(param))
    return {"settings": f"rmsprop:lr={lr},alpha={alpha},epsilon={epsilon},epsilon_inside_root",
            "after": after}


def as_gradient(g, param, maximize, weight_decay):
    return (-g if maximize else g) + weight_decay * param


def lion(lr, beta1=0.9, beta2=0.99, weight_decay=0.0, maximize=False):
    """Chen et al. 2023, algorithm 2."""
    def step(param, g, rate, state):
        g = as_gradient(g, param, maximize, 0.0)
        m = state.setdefault("m", np.zeros_like(param))
        c = beta1 * m + (1 - beta1) * g
        state["m"] = beta2 * m + (1 - beta2) * g
        return param - lr * rate * (np.sign(c) + weight_decay * param)
    return step


def sign_sgd(lr, momentum=0.0, weight_decay=0.0, decoupled_weight_decay=False, maximize=False):
    """Bernstein et al. 2018: signSGD, and Signum with a momentum."""
    def step(param, g, rate, state):
        own = weight_decay if decoupled_weight_decay else 0.0
        g = as_gradient(g, param, maximize, 0.0 if decoupled_weight_decay else weight_decay)
        m = momentum * state.get("m", 0.0) + (1 - momentum) * g
        state["m"] = m
        return param - lr * rate * (np.sign(m) + own * param)
    return step


def lars(lr, momentum=0.9, weight_decay=0.0, trust_coefficient=1e-3, epsilon=1e-8, maximize=False):
    """You et al. 2017, algorithm 1."""
    def step(param, g, rate, state):
        size, length = np.linalg.norm(param), np.linalg.norm(g)
        trust = 1.0
        if size > 0 and length > 0:
            trust = trust_coefficient * size / (length + weight_decay * size + epsilon)
        g = as_gradient(g, param, maximize, weight_decay)
        state["v"] = momentum * state.get("v", 0.0) + lr * rate * trust * g
        return param - state["v"]
    return step


def lamb(lr, beta1=0.9, beta2=0.999, epsilon=1e-6, weight_decay=0.0, maximize=False):
    """You et al. 2020, algorithm 2, with the identity for phi."""
    def step(param, g, rate, state):
        g = as_gradient(g, param, maximize, 0.0)
        t = state["t"] = state.get("t", 0) + 1
        m = state["m"] = beta1 * state.get("m", 0.0) + (1 - beta1) * g
        v = state["v"] = beta2 * state.get("v", 0.0) + (1 - beta2) * g * g
        r = m / (1 - beta1 ** t) / (np.sqrt(v / (1 - beta2 ** t)) + epsilon) + weight_decay * param
        size, length = np.linalg.norm(param), np.linalg.norm(r)
        trust = size / length if size > 0 and length > 0 else 1.0
        return param - lr * rate * trust * r
    return step


# Optimizers that PyTorch lacks, as in the papers, in double precision.
PAPERS = [
    ("lion", lion(1e-4)),
    ("lion:lr=0.1,beta1=0.7,beta2=0.8,weight_decay=0.2", lion(0.1, 0.7, 0.8, 0.2)),
    ("lion:lr=0.1,maximize", lion(0.1, maximize=True)),
    ("sign_sgd:lr=0.1", sign_sgd(0.1)),
    ("sign_sgd:lr=0.1,momentum=0.8,weight_decay=0.2", sign_sgd(0.1, 0.8, 0.2)),
    ("sign_sgd:lr=0.1,weight_decay=0.2,decoupled_weight_decay,maximize",
     sign_sgd(0.1, 0.0, 0.2, True, True)),
    ("lars", lars(0.1)),
    ("lars:lr=0.5,momentum=0.7,weight_decay=0.1,trust_coefficient=0.1,epsilon=0.01",
     lars(0.5, 0.7, 0.1, 0.1, 0.01)),
    ("lars:momentum=0,maximize", lars(0.1, momentum=0.0, maximize=True)),
    ("lamb", lamb(1e-3)),
    ("lamb:lr=0.1,beta1=0.8,beta2=0.95,epsilon=0.01,weight_decay=0.1",
     lamb(0.1, 0.8, 0.95, 0.01, 0.1)),
    ("lamb:lr=0.1,maximize", lamb(0.1, maximize=True)),
]


def paper_trajectory(step, start, gradients, lr_factors):
    param, state, after = start.double().numpy(), {}, []
    for gradient, factor in zip(gradients.double().numpy(), lr_factors):
        param = step(param, gradient, factor, state)
        after.append([float(f"{v:.9g}") for v in param.tolist()])
    return after


def matrix_case(text, start, gradients, after):
    return {"settings": text, "shape": list(start.shape), "start": rounded(start),
            "gradients": [rounded(g) for g in gradients], "after": [step[0] for step in after]}


def muon_matrices(lr_factors):
    """Muon, which PyTorch has for matrices alone."""
    generator = torch.Generator().manual_seed(3)
    cases = []
    for shape in [[3, 4], [5, 2]]:
        start = torch.randn(shape, generator=generator)
        gradients = torch.randn([STEPS] + shape, generator=generator)
        for text, arguments in [
                ("muon:lr=0.02", dict(lr=0.02)),
                ("muon:lr=0.02,momentum=0.8,nesterov=false,weight_decay=0.2,match_rms_adamw",
                 dict(lr=0.02, momentum=0.8, nesterov=False, weight_decay=0.2,
                      adjust_lr_fn="match_rms_adamw"))]:
            # PyTorch iterates in bfloat16, thimble in float32.
            with mock.patch.object(torch.Tensor, "bfloat16", torch.Tensor.clone):
                after = trajectory(lambda p: torch.optim.Muon(p, **arguments), [start], gradients,
                                   lr_factors)
            cases.append(matrix_case(text, start, gradients, after))
    return cases


def matrices(lr_factors):
    """Adafactor on matrices, whose second moment is factored."""
    torch.manual_seed(2)
    cases = []
    for shape in SHAPES:
        start, gradients = torch.randn(shape), torch.randn([STEPS] + shape)
        gradients[1] *= 30.0
        for text, kind, arguments in OPTIMIZERS:
            if kind is not torch.optim.Adafactor:
                continue
            after = trajectory(lambda p: kind(p, **arguments), [start], gradients, lr_factors)
            cases.append(matrix_case(text, start, gradients, after))
    return cases


# For embeddings with sparse gradients.
SPARSE = [
    ("sgd:lr=0.1", torch.optim.SGD, dict(lr=0.1)),
    ("sgd:lr=0.1,maximize", torch.optim.SGD, dict(lr=0.1, maximize=True)),
    ("adagrad:lr=0.1,lr_decay=0.1", torch.optim.Adagrad, dict(lr=0.1, lr_decay=0.1)),
    ("sparse_adam:lr=0.1", torch.optim.SparseAdam, dict(lr=0.1)),
    ("sparse_adam:lr=0.1,beta1=0.8,beta2=0.95,epsilon=0.01,maximize", torch.optim.SparseAdam,
     dict(lr=0.1, betas=(0.8, 0.95), eps=0.01, maximize=True)),
]


def sparse_trajectories(lr_factors, rows=7, width=3, places=5):
    """An embedding whose places get given gradients: some rows often, some twice in a step, one
    never, and one the padding."""
    torch.manual_seed(3)
    start = torch.randn(rows, width)
    indices = torch.randint(0, rows - 1, (STEPS, places))
    gradients = torch.randn(STEPS, places, width)
    cases = []
    for text, kind, arguments in SPARSE:
        weight = torch.nn.Parameter(start.clone())
        optimizer = kind([weight], **arguments)
        rate, after = arguments["lr"], []
        for index, gradient, factor in zip(indices, gradients, lr_factors):
            optimizer.param_groups[0]["lr"] = rate * factor
            optimizer.zero_grad()
            y = torch.nn.functional.embedding(index, weight, padding_idx=1, sparse=True)
            (y * gradient).sum().backward()
            optimizer.step()
            after.append(rounded(weight))
        cases.append({"settings": text, "after": after})
    return {"rows": rows, "width": width, "padding_idx": 1, "start": rounded(start),
            "indices": indices.tolist(), "gradients": [rounded(g) for g in gradients],
            "cases": cases}


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


def cycle(text, make, kind, arguments, start, gradients):
    """Parameters while the rate and the momentum go through a cycle of one of PyTorch's schedulers."""
    params = [torch.nn.Parameter(start.clone())]
    optimizer = kind(params, **arguments)
    scheduler = make(optimizer)
    after = []
    for gradient in gradients:
        params[0].grad = gradient.clone()
        optimizer.step()
        scheduler.step()
        after.append(rounded(params[0]))
    return {**text, "after": after}


def cycles(start, gradients):
    lrs = torch.optim.lr_scheduler
    steps = len(gradients)
    return [
        cycle({"optimizer": "sgd:lr=0.1,momentum=0.9", "schedule": "one_cycle:cycle_momentum"},
              lambda o: lrs.OneCycleLR(o, 0.1, steps + 1), torch.optim.SGD,
              dict(lr=0.1, momentum=0.9), start, gradients),
        cycle({"optimizer": "adamw:lr=0.1",
               "schedule": "one_cycle:three_phase,cycle_momentum,base_momentum=0.6,"
                           "max_momentum=0.9"},
              lambda o: lrs.OneCycleLR(o, 0.1, steps + 1, three_phase=True, base_momentum=0.6,
                                       max_momentum=0.9),
              torch.optim.AdamW, dict(lr=0.1), start, gradients),
        cycle({"optimizer": "nadam:lr=0.1", "schedule": "one_cycle:anneal=linear,cycle_momentum"},
              lambda o: lrs.OneCycleLR(o, 0.1, steps + 1, anneal_strategy="linear"),
              torch.optim.NAdam, dict(lr=0.1), start, gradients),
        cycle({"optimizer": "sgd:lr=0.1,momentum=0.9",
               "schedule": "cyclic:min=0.01,step_size_up=2,step_size_down=1,mode=triangular2,"
                           "cycle_momentum"},
              lambda o: lrs.CyclicLR(o, 0.01, 0.1, 2, 1, mode="triangular2"), torch.optim.SGD,
              dict(lr=0.1, momentum=0.9), start, gradients),
    ]


def plateaus():
    """Rates after each epoch of some losses."""
    losses = [1.0, 0.9, 0.95, 0.9, 0.89995, 0.91, 0.5, 0.5, 0.5, 0.6, 0.7, 0.499, 0.49, 0.8, 0.8,
              0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8, 0.8]
    cases = []
    for text, arguments in [
            ("patience=2", dict(patience=2)),
            ("factor=0.5,patience=0", dict(factor=0.5, patience=0)),
            ("factor=0.5,patience=1,cooldown=3", dict(factor=0.5, patience=1, cooldown=3)),
            ("factor=0.3,patience=1,min_lr=0.02", dict(factor=0.3, patience=1, min_lr=0.02)),
            ("factor=0.9,patience=0,epsilon=0.04", dict(factor=0.9, patience=0, eps=0.04)),
            ("factor=0.5,patience=1,threshold=0.05,threshold_mode=abs",
             dict(factor=0.5, patience=1, threshold=0.05, threshold_mode="abs")),
            ("factor=0.5,patience=2,threshold=0.1,mode=max",
             dict(factor=0.5, patience=2, threshold=0.1, mode="max")),
            ("factor=0.5,patience=2,threshold=0.1,mode=max,threshold_mode=abs",
             dict(factor=0.5, patience=2, threshold=0.1, mode="max", threshold_mode="abs"))]:
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.5)
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **arguments)
        rates = []
        for loss in losses:
            scheduler.step(loss)
            rates.append(float(f"{optimizer.param_groups[0]['lr']:.12g}"))
        cases.append({"settings": "reduce_on_plateau:" + text, "losses": losses, "rates": rates})
    return cases


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
        schedule("cosine_restarts:min=0.01,t_0=3,t_mult=2",
                 lambda o: lrs.CosineAnnealingWarmRestarts(o, T_0=3, T_mult=2, eta_min=0.01), 40),
        schedule("cosine_restarts:t_0=5",
                 lambda o: lrs.CosineAnnealingWarmRestarts(o, T_0=5)),
        schedule("polynomial:decay_steps=9,power=2.5",
                 lambda o: lrs.PolynomialLR(o, total_iters=9, power=2.5)),
        schedule("one_cycle", lambda o: lrs.OneCycleLR(o, 0.5, STEPS, cycle_momentum=False)),
        schedule("one_cycle:pct_start=0.2,anneal=linear,div_factor=10,final_div_factor=100",
                 lambda o: lrs.OneCycleLR(o, 0.5, 30, pct_start=0.2, anneal_strategy="linear",
                                          div_factor=10, final_div_factor=100,
                                          cycle_momentum=False), 30),
        schedule("one_cycle:three_phase",
                 lambda o: lrs.OneCycleLR(o, 0.5, 30, three_phase=True, cycle_momentum=False), 30),
        schedule("one_cycle:three_phase,anneal=linear,pct_start=0.4",
                 lambda o: lrs.OneCycleLR(o, 0.5, 30, three_phase=True, anneal_strategy="linear",
                                          pct_start=0.4, cycle_momentum=False), 30),
        schedule("multi_step:milestones=2:5:5:9,gamma=0.5",
                 lambda o: lrs.MultiStepLR(o, [2, 5, 5, 9], gamma=0.5)),
        schedule("cyclic:min=0.1,step_size_up=4",
                 lambda o: lrs.CyclicLR(o, 0.1, 0.5, 4, cycle_momentum=False), 30),
        schedule("cyclic:min=0.1,step_size_up=3,step_size_down=5,mode=triangular2",
                 lambda o: lrs.CyclicLR(o, 0.1, 0.5, 3, 5, mode="triangular2",
                                        cycle_momentum=False), 40),
        schedule("cyclic:max=0.9,min=0.01,step_size_up=5,step_size_down=2,mode=exp_range,gamma=0.9",
                 lambda o: lrs.CyclicLR(o, 0.01, 0.9, 5, 2, mode="exp_range", gamma=0.9,
                                        cycle_momentum=False), 40),
    ]


def main():
    start, gradients, lr_factors = inputs()
    cases = []
    for text, kind, arguments in OPTIMIZERS:
        after = trajectory(lambda p: kind(p, **arguments), [start], gradients, lr_factors)
        cases.append({"settings": text, "after": [step[0] for step in after]})
    cases.append(inside_root(start, gradients, lr_factors))
    for text, step in PAPERS:
        cases.append({"settings": text,
                      "after": paper_trajectory(step, start, gradients, lr_factors)})

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
        "matrices": matrices(lr_factors) + muon_matrices(lr_factors),
        "sparse": sparse_trajectories(lr_factors),
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
        "plateaus": plateaus(),
        "cycles": cycles(start, gradients),
    }
    lines = json.dumps(goldens, indent=1)
    # One list of numbers per line.
    lines = re.sub(r"\[\s+([^\[\]{}]*?)\s+\]", lambda m: "[" + " ".join(m[1].split()) + "]", lines)
    OUT.write_text(lines + "\n")


if __name__ == "__main__":
    main()
