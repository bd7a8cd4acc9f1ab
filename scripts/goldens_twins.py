#!/usr/bin/env python3
"""Writes tests/models/twins_golden.json: where PyTorch's weights are after 20 steps of each recipe.

Usage: python scripts/goldens_twins.py BUILD/bin/twin_bench      (made with PyTorch 2.13, NumPy)

twin_bench hands over first weights, batches and noise; the models of bench/pytorch take the steps
in double precision. Of every array the file holds its norm and 32 projections on vectors of random
signs: the root mean square of the differences of projections is an unbiased measure of the norm of
the difference, within about a quarter, and needs no megabytes.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "bench/pytorch"))
import agree  # noqa: E402  (found by the line above)
import border  # noqa: E402
import torch  # noqa: E402

RECIPES = ["vae", "lenet5", "mlp"]
STEPS, SAMPLES, SEEDS, PROJECTIONS = 20, 1280, 8, 32
OUT = ROOT / "tests/models/twins_golden.json"


def scatter(x):
    """The finalizer of SplitMix64, as in src/data/random.h."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def projections(array):
    """Sums of the elements under signs: bit p of scatter(index + 1) is the sign of projection p."""
    values = array.astype(np.float64).ravel()
    words = scatter(np.arange(1, values.size + 1, dtype=np.uint64))
    bits = (words >> np.arange(PROJECTIONS, dtype=np.uint64)[:, None]) & np.uint64(1)
    return [float(f"{sum:.9g}") for sum in np.where(bits == 1, values, -values).sum(axis=1)]


def both_precisions(twin_bench, recipe, seed, folder):
    """First weights, those after the steps in double precision, its losses, and how far apart
    PyTorch's own float32 is."""
    path = f"{folder}/steps.safetensors"
    subprocess.run([twin_bench, "steps", recipe, f"--steps={STEPS}", f"--limit={SAMPLES}",
                    f"--seed={seed}", "--out", path], check=True, stdout=subprocess.DEVNULL)
    arrays, metadata = border.read(path)
    total = int(metadata["total_steps"])
    single, _ = agree.torch_steps(recipe, arrays, total, torch.float32)
    double, losses = agree.torch_steps(recipe, arrays, total, torch.float64)
    apart = max(agree.difference(single[name], array) for name, array in double.items())
    return apart, seed, border.part(arrays, "before."), double, losses


def golden(twin_bench, recipe, folder):
    """A ReLU whose input is zero but for rounding may go either way, and Adam's first steps make
    that a visible change in about one run of ten; so the seed is taken at which PyTorch's two
    precisions are closest."""
    runs = [both_precisions(twin_bench, recipe, seed, folder) for seed in range(SEEDS)]
    apart, seed, before, after, losses = min(runs, key=lambda run: run[0])
    print(f"{recipe}: seed {seed}, PyTorch's float32 differs by {apart:.1e} from its double; "
          f"at the other seeds by {', '.join(f'{run[0]:.1e}' for run in runs if run[1] != seed)}")
    return {"seed": seed, "loss": [float(f"{loss:.9g}") for loss in losses],
            "arrays": {name: {"norm": float(f"{np.linalg.norm(array):.9g}"),
                              "before": projections(before[name])[:4],
                              "after": projections(array)} for name, array in after.items()}}


def main():
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        goldens = {"steps": STEPS, "samples": SAMPLES,
                   "recipes": {name: golden(sys.argv[1], name, folder) for name in RECIPES}}
    lines = json.dumps(goldens, indent=1)
    # One list of numbers a line.
    lines = re.sub(r"\[\s+([^\[\]{}]*?)\s+\]", lambda m: "[" + " ".join(m[1].split()) + "]", lines)
    OUT.write_text(lines + "\n")


if __name__ == "__main__":
    main()
