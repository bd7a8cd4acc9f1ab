#!/usr/bin/env python3
"""Writes tests/models/twins/RECIPE.json: where PyTorch's weights are after some steps of a recipe.

Usage: python scripts/goldens_twins.py BUILD/bin/twin_bench [RECIPE ...]
(made with PyTorch 2.13, NumPy; without a name, every recipe below)

twin_bench hands over first weights, batches and noise; the models of bench/pytorch take the steps
in double precision. Of every array the file holds its norm, how far PyTorch's own float32 may
be away (the most of some seeds) where that is more than a rounding, and projections on vectors of random signs: the root mean square of the differences of projections is an unbiased measure of the norm of
the difference, within about a quarter for 32 of them, and needs no megabytes.
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

DEFAULTS = {"steps": 20, "samples": 1280, "projections": 32, "seeds": 8}
# Deep networks with batch norm: one step of plain SGD of rate 1, which shows the gradient. Adam makes
# full steps from gradients that are only rounding error, and the error grows with every step.
LARGE = {"steps": 1, "samples": 64, "projections": 8, "seeds": 4, "batch": 8, "plain_sgd": True}
# The biases of keys get only rounding error as gradient, so plain SGD is used here, too. Effects
# that need several steps are tested with the smaller text model.
GPT = {**LARGE, "samples": 2, "seeds": 1, "batch": 1}
LSTM = {"samples": 80, "projections": 16, "seeds": 4, "batch": 4}
# Its last layers start at zero: it takes a few steps until every weight is reached by a gradient.
UNET = {"steps": 5, "samples": 40, "projections": 8, "seeds": 3, "batch": 4}
RECIPES = {"vae": {}, "lenet5": {}, "mlp": {}, "mobilenetv2": LARGE, "resnet18": LARGE, "gpt": GPT,
           "lstm": LSTM, "unet_ddpm": UNET}
OUT = ROOT / "tests/models/twins"


def scatter(x):
    """The finalizer of SplitMix64, as in src/data/random.h."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def projections(array, count):
    """Sums of the elements under signs: bit p of scatter(index + 1) is the sign of projection p."""
    values = array.astype(np.float64).ravel()
    words = scatter(np.arange(1, values.size + 1, dtype=np.uint64))
    sums = [np.where((words >> np.uint64(p)) & np.uint64(1) == 1, values, -values).sum()
            for p in range(count)]
    return [float(f"{sum:.9g}") for sum in sums]


def both_precisions(twin_bench, recipe, settings, seed, folder):
    """First weights, those after the steps in double precision, its losses, and how far apart
    PyTorch's own float32 is."""
    path = f"{folder}/steps.safetensors"
    options = [f"--steps={settings['steps']}", f"--limit={settings['samples']}", f"--seed={seed}"]
    options += [f"--batch={settings['batch']}"] if "batch" in settings else []
    options += ["--plain-sgd"] if settings.get("plain_sgd") else []
    subprocess.run([twin_bench, "steps", recipe, *options, "--out", path], check=True,
                   stdout=subprocess.DEVNULL)
    arrays, metadata = border.read(path)
    single, _ = agree.torch_steps(recipe, arrays, metadata, torch.float32)
    double, losses = agree.torch_steps(recipe, arrays, metadata, torch.float64)
    apart = {name: agree.difference(single[name], array) for name, array in double.items()}
    return apart, seed, border.part(arrays, "before."), double, losses


def golden(twin_bench, recipe, settings, folder):
    """A ReLU whose input is zero but for rounding may go either way, and Adam's first steps make
    that a visible change in about one run of ten; so the seed is taken at which PyTorch's two
    precisions are closest."""
    runs = [both_precisions(twin_bench, recipe, settings, seed, folder)
            for seed in range(settings["seeds"])]
    def worst(run):
        return max(run[0].values())

    best = min(runs, key=worst)
    apart, seed, before, after, losses = best
    own = {name: max(run[0][name] for run in runs) for name in apart}
    others = ", ".join(f"{worst(run):.1e}" for run in runs if run[1] != seed)
    print(f"{recipe}: seed {seed}, PyTorch's float32 differs by {worst(best):.1e} from its double; "
          f"at the other seeds by {others}")
    kept = {key: value for key, value in settings.items() if key not in ("projections", "seeds")}
    count = settings["projections"]
    return {**kept, "seed": seed, "loss": [float(f"{loss:.9g}") for loss in losses],
            "arrays": {name: {"norm": float(f"{agree.norm(array):.9g}"),
                              **({"own": float(f"{own[name]:.2g}")} if own[name] > 1e-5 else {}),
                              "before": projections(before[name], min(count, 4)),
                              "after": projections(array, count)}
                       for name, array in after.items()}}


def main():
    torch.set_num_threads(1)
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[2:] or RECIPES:
            result = golden(sys.argv[1], name, {**DEFAULTS, **RECIPES[name]}, folder)
            lines = json.dumps(result, indent=1)
            # One list of numbers per line.
            lines = re.sub(r"\[\s+([^\[\]{}]*?)\s+\]",
                           lambda m: "[" + " ".join(m[1].split()) + "]", lines)
            (OUT / f"{name}.json").write_text(lines + "\n")


if __name__ == "__main__":
    main()
