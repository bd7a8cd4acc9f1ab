#!/usr/bin/env python3
"""Writes tests/train/lbfgs_goldens.json: points that torch.optim.LBFGS visits, which ours are compared with.

Usage: python scripts/goldens_lbfgs.py   (made with PyTorch 2.13)
"""
import json
import pathlib

import torch

OUT = pathlib.Path(__file__).parent.parent / "tests/train/lbfgs_goldens.json"
STEPS = 5


def rosenbrock(x):
    """Of any number of dimensions."""
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def quadratic(x):
    """Of condition 10 ** 4."""
    return (torch.logspace(-2, 2, len(x), dtype=x.dtype) * (x - 1) ** 2).sum()


FUNCTIONS = {"rosenbrock": rosenbrock, "quadratic": quadratic}


def run(function, start, options):
    x = torch.nn.Parameter(torch.tensor(start, dtype=torch.float64))
    optimizer = torch.optim.LBFGS([x], **options)

    def closure():
        optimizer.zero_grad()
        loss = FUNCTIONS[function](x)
        loss.backward()
        return loss

    steps = []
    for _ in range(STEPS):
        loss = optimizer.step(closure)
        state = optimizer.state[x]
        steps.append({"loss": loss.item(), "x": x.tolist(), "iterations": state["n_iter"],
                      "evaluations": state["func_evals"]})
    return {"function": function, "start": start, "options": options, "steps": steps}


def main():
    wolfe = {"line_search_fn": "strong_wolfe"}
    cases = [
        run("rosenbrock", [-1.2, 1.0], wolfe),
        run("rosenbrock", [-1.2, 1.0, 0.3, 2.0], {**wolfe, "max_iter": 7, "history_size": 2}),
        run("rosenbrock", [1.5, 2.0], {"lr": 0.1, "max_iter": 4}),
        run("quadratic", [3.0, -2.0, 5.0, 0.5, -1.0], {**wolfe, "lr": 0.5, "max_iter": 3}),
        run("quadratic", [3.0, -2.0, 5.0, 0.5, -1.0], {"lr": 0.3, "max_iter": 6, "max_eval": 4}),
        run("quadratic", [3.0, -2.0], {**wolfe, "tolerance_grad": 0.5}),
        # Line searches that are cut short by the evaluations that a step may take.
        run("rosenbrock", [-1.2, 1.0], {**wolfe, "lr": 0.01, "max_iter": 1}),
        run("rosenbrock", [-1.2, 1.0, 0.3, 2.0], {**wolfe, "lr": 0.01, "max_eval": 6}),
    ]
    OUT.write_text(json.dumps(cases, indent=1) + "\n")


if __name__ == "__main__":
    main()
