#!/usr/bin/env python3
"""Whether PyTorch does what thimble did, step for step.

Usage: python agree.py RECIPE STEPS_FILE      (written by twin_bench steps)

From the same weights, batches and noise PyTorch takes the same steps, in float32 and in double
precision. Prints one JSON object: for every weight tensor and running statistic the norm of the
difference over the norm, and the largest of these. Both agree if no array differs by more than 1e-4
or four times the difference between PyTorch's own two precisions.

The sign of a ReLU's input that is nearly zero depends on rounding, and Adam divides even the smallest
gradient by its size. So two computations, PyTorch's own two precisions as well, differ by 1e-4 to 1e-1
in about one run of ten, and always in a deep network with batch norm. Agreement with either precision
counts. Exits with 1 if there is none.
"""
import json
import sys

import numpy as np
import torch

import border

TOLERANCE = 1e-4
OWN_SHARE = 4  # times PyTorch's own difference


def torch_steps(recipe, arrays, metadata, dtype=torch.float32):
    """The weights after the steps of a file, in thimble's layout, and each step's loss. Metadata
    lr_scale: a factor of the learning rate; epsilon: the optimizer's, 0 for the recipe's."""
    module = border.recipe(recipe)
    model = module.Model()
    border.load_weights(model, border.part(arrays, "before."))
    model.to(dtype).train()
    if metadata["plain_sgd"] == "1":
        optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
        schedule = None
    else:
        optimizer = module.optimizer(model.parameters())
        schedule = module.schedule(optimizer, int(metadata["total_steps"]))
    if float(metadata["epsilon"]) > 0:
        for group in optimizer.param_groups:
            group["eps"] = float(metadata["epsilon"])
    fields = [arrays["field." + name] for name in border.names(metadata, "fields")]
    fields += [noise for _, noise in sorted(border.part(arrays, "noise.").items())]
    losses = []
    for step in range(len(arrays["loss"])):
        inputs = [border.field_to_torch(field[step]) for field in fields]
        optimizer.zero_grad()
        loss, _ = model(*[x.to(dtype) if x.is_floating_point() else x for x in inputs])
        loss.backward()
        scaled_step(optimizer, float(metadata["lr_scale"]))
        if schedule:
            schedule.step()
        losses.append(loss.item())
    return border.weights_of(model), losses


def scaled_step(optimizer, scale):
    """A step at a multiple of the schedule's learning rate."""
    rates = [group["lr"] for group in optimizer.param_groups]
    for group, rate in zip(optimizer.param_groups, rates):
        group["lr"] = rate * scale
    optimizer.step()
    for group, rate in zip(optimizer.param_groups, rates):
        group["lr"] = rate


def difference(ours, theirs):
    ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
    return float(np.linalg.norm(ours - theirs) / norm(theirs))


def norm(array):
    """The norm, at least that of 0.001 in every element, because an array may be zero up to rounding."""
    return max(float(np.linalg.norm(array)), 1e-3 * array.size ** 0.5)


def worst(ours, theirs):
    """The array that differs most, and by how much."""
    differences = {name: difference(ours[name], array) for name, array in theirs.items()}
    name = max(differences, key=differences.get)
    return {"array": name, "difference": differences[name]}


def main():
    recipe, path = sys.argv[1:]
    torch.set_num_threads(1)
    arrays, metadata = border.read(path)
    ours = border.part(arrays, "after.")
    single, losses = torch_steps(recipe, arrays, metadata)
    double, _ = torch_steps(recipe, arrays, metadata, torch.float64)
    to_single, to_double, itself = worst(ours, single), worst(ours, double), worst(single, double)
    agrees = any(all(difference(ours[name], array) <= max(
        TOLERANCE, OWN_SHARE * difference(single[name], double[name]))
        for name, array in side.items()) for side in (single, double))
    print(json.dumps({
        "steps": len(losses), "tolerance": TOLERANCE, "agrees": agrees,
        "to_float32": to_single, "to_double": to_double, "pytorch_to_itself": itself,
        "loss": float(np.max(np.abs(np.array(losses) / arrays["loss"] - 1))),
        "arrays": {name: difference(ours[name], array) for name, array in single.items()}}))
    return 0 if agrees else 1


if __name__ == "__main__":
    sys.exit(main())
