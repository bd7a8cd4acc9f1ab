"""Measures the fine-tuning of simple_mnist.circle in thimble beside the same network in PyTorch, one thread each.

usage: python bench/models/circle.py MODEL.circle [--batch 4]

Both begin with the weights of the file and take the same steps of plain SGD on the same samples; the losses must agree.
Then they take turns, and the fastest step of each counts. The memory is what a process holds from malloc at most above
what it held before, over reading the model and four steps: the first time, with the imports, and again. The Python package must be on
PYTHONPATH; needs torch.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import Any

from imported import MEMORY_STEPS, PYTORCH, Call, in_turns

import numpy as np

RATE = 0.05
EQUAL = 1e-5  # relative, of losses: sums are in another order
CHECKED_STEPS = 10


def samples_of(batch: int) -> tuple[Any, Any]:
    random = np.random.default_rng(1)
    return random.uniform(0, 1, (batch, 11, 11, 1)).astype(np.float32), random.integers(0, 2, batch)


def our_step(model: str, batch: int) -> tuple[Call, Any]:
    import thimble as tb

    graph = tb.adapt(tb.import_tflite(model), loss="softmax_cross_entropy", label="label", trainable=["*"])
    trainer = tb.Trainer(graph, optimizer=tb.SGD(lr=RATE), batch=batch, threads=1)
    x, labels = samples_of(batch)
    samples = {next(iter(trainer._core.inputs())): x, "label": labels.astype(np.int32)}
    return lambda: trainer.step(samples).loss, trainer


def torch_step(weights: dict[str, Any], batch: int) -> Call:
    """The network of the file: a convolution, a pool and two dense layers without biases."""
    import torch

    torch.set_num_threads(1)
    conv = torch.nn.Conv2d(1, 4, 2)
    first, last = torch.nn.Linear(100, 4, bias=False), torch.nn.Linear(4, 2, bias=False)
    with torch.no_grad():
        conv.weight.copy_(torch.from_numpy(weights["conv2d_1.weight"]).permute(0, 3, 1, 2))
        conv.bias.copy_(torch.from_numpy(weights["conv2d_1.bias"]))
        # Rows of the file are of images [5, 5, 4], those of PyTorch's of [4, 5, 5].
        rows = torch.from_numpy(weights["dense_1.weight"]).reshape(4, 5, 5, 4).permute(0, 3, 1, 2)
        first.weight.copy_(rows.reshape(4, 100))
        last.weight.copy_(torch.from_numpy(weights["dense_2.weight"]))
    network = torch.nn.Sequential(conv, torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(), first, torch.nn.ReLU(), last)
    optimizer = torch.optim.SGD(network.parameters(), lr=RATE)
    x, labels = samples_of(batch)
    images, digits = torch.from_numpy(x).permute(0, 3, 1, 2).contiguous(), torch.from_numpy(labels)

    def step() -> float:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(network(images), digits)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def peak(options: argparse.Namespace) -> None:
    """In a process of its own, with count_malloc.so preloaded."""
    counted = ctypes.CDLL(None)
    counted.count_malloc_live.restype = counted.count_malloc_peak.restype = ctypes.c_long
    if options.peak == "thimble":
        def made() -> Call:
            return our_step(options.model, options.batch)[0]
    else:
        with np.load(options.weights) as file:
            weights = dict(file)

        def made() -> Call:
            return torch_step(weights, options.batch)

    def steps() -> None:
        step = made()
        for _ in range(MEMORY_STEPS):
            step()

    peaks = []
    for _ in range(2):  # the first time with the imports
        gc.collect()
        counted.count_malloc_reset_peak()
        before = counted.count_malloc_live()
        steps()
        peaks.append(counted.count_malloc_peak() - before)
    print(json.dumps(peaks))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--peak", help=argparse.SUPPRESS)
    parser.add_argument("--weights", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peak:
        return peak(options)
    ours, trainer = our_step(options.model, options.batch)
    weights = {name: np.array(value) for name, value in trainer.parameters.items()}
    theirs = torch_step(weights, options.batch)
    losses = [(ours(), theirs()) for _ in range(CHECKED_STEPS)]
    if not np.allclose(*zip(*losses), rtol=EQUAL) or losses[-1][0] >= losses[0][0]:
        sys.exit(f"the losses do not agree, or do not fall: {losses}")
    with tempfile.TemporaryDirectory() as folder:
        library, file = f"{folder}/count_malloc.so", f"{folder}/weights.npz"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, PYTORCH / "count_malloc.c"], check=True)
        np.savez(file, **weights)
        words = [options.model, "--batch", str(options.batch), "--weights", file]
        allocated = {side: json.loads(subprocess.run([sys.executable, __file__, *words, "--peak", side], check=True, text=True,
                                              stdout=subprocess.PIPE, env={**os.environ, "LD_PRELOAD": library}).stdout)
                     for side in ("thimble", "pytorch")}
    best = in_turns({"thimble": ours, "pytorch": theirs}, options.rounds, options.seconds)
    print(json.dumps({"model": pathlib.Path(options.model).stem, "batch": options.batch,
                      "ms": {side: round(ms, 4) for side, ms in best.items()}, "allocated_peak_bytes": allocated,
                      "planned_peak_bytes": trainer.plan().planned_peak_bytes,
                      "losses": [losses[0][0], losses[-1][0]]}))


if __name__ == "__main__":
    main()
