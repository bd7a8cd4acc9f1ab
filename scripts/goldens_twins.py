#!/usr/bin/env python3
"""Writes tests/models/twins/RECIPE.json: where PyTorch's weights are after 20 steps of a recipe, at five
seeds, and how far its own float32 is from its double precision there.

Usage: python scripts/goldens_twins.py BUILD/bin/twin_bench [RECIPE ...]
(made with PyTorch 2.13, NumPy; without a name, every recipe below)

twin_bench provides first weights, batches and noise. The models of bench/pytorch take the steps in
double precision, and several times in float32: unchanged, with the samples of each batch in another
order, and from weights that differ in their last bits. "own" is the largest distance of the float32
runs from double precision, for each array and for all of them together, relative to their norms;
"loss_own" is that of the loss at each step. The tolerance of tests/models/twins_slow_test.cpp is a
multiple of these.

Of every array the file holds its norm and projections on vectors of random signs: the root mean square
of the differences of projections is an unbiased measure of the norm of the difference, within about a
quarter for 8 of them, and needs no megabytes.
"""
import itertools
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

STEPS, SEEDS, PROJECTIONS, PROJECTIONS_BEFORE = 20, 5, 8, 2
# Numbers that differ from a weight by this share differ from it in the last two bits of float32.
LAST_BITS = 2.0**-22
# The sign of a ReLU's input that is nearly zero depends on rounding, and Adam's first steps make a
# visible change of that. At such seeds a tolerance from the runs in float32 would hide errors, or another
# order of sums would be an error. So further runs start from weights that differ by more, and where any
# run is as far from double precision as this, the next seed is taken. Only PyTorch's runs decide.
FARTHEST, SHAKEN, SHAKEN_RUNS = 1e-5, 2.0**-20, 8
# Large models take smaller batches and fewer runs, because a step takes long. In deep networks with batch
# norm, rounding grows with every step, and faster with larger steps: PyTorch's float32 would be as far
# from its double precision as from the first weights. So they take smaller learning rates, and so does
# gpt: at the recipe's rate its float32 is between 8e-7 and 1e-4 from double precision, by the seed.
# The biases of gpt's keys have no gradient but rounding error, far below 1e-6. With the recipe's epsilon of
# 1e-8, AdamW makes steps of it.
SMALL = {"runs": ["as it is", "reordered", *(f"last bits {i}" for i in range(1, 7))], "may_skip": True}
LARGE = {"runs": ["as it is"], "may_skip": False}
RECIPES = {"vae": {"batch": 32, **SMALL}, "lenet5": {"batch": 64, **SMALL}, "mlp": {"batch": 64, **SMALL},
           "lstm": {"batch": 4, **LARGE},
           "gpt": {"batch": 1, "lr_scale": 2.0**-3, "epsilon": 1e-6, **LARGE,
                   "runs": ["as it is", "last bits 1"]},
           "mobilenetv2": {"batch": 4, "lr_scale": 2.0**-6, **LARGE},
           "resnet18": {"batch": 4, "lr_scale": 2.0**-6, **LARGE},
           "unet_ddpm": {"batch": 2, **LARGE}}
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
    return [short(sum, 9) for sum in sums]


def short(value, digits):
    return float(f"{value:.{digits}g}")


def near(arrays, share, seed):
    """The same steps from weights that differ by up to this share of each."""
    rng = np.random.default_rng(seed)
    return {name: (array * (1 + share * rng.uniform(-1, 1, array.shape))).astype(np.float32)
            if name.startswith("before.") else array for name, array in arrays.items()}


def varied(arrays, run):
    """The same steps, changed so that they round differently."""
    changed = dict(arrays)
    rng = np.random.default_rng(SMALL["runs"].index(run))
    if run == "reordered":
        fed = [name for name in arrays if name.startswith(("field.", "noise."))]
        steps, batch = arrays[fed[0]].shape[:2]
        orders = [rng.permutation(batch) for _ in range(steps)]
        for name in fed:
            changed[name] = np.stack([part[order] for part, order in zip(arrays[name], orders)])
    elif run != "as it is":
        return near(arrays, LAST_BITS, SMALL["runs"].index(run))
    return changed


def distances(weights, double):
    """Distances relative to the norm, for each array and for all together."""
    squares = {name: (agree.difference(weights[name], array) * agree.norm(array)) ** 2
               for name, array in double.items()}
    norms = sum(agree.norm(array) ** 2 for array in double.values())
    each = {name: agree.difference(weights[name], array) for name, array in double.items()}
    return each, (sum(squares.values()) / norms) ** 0.5


def is_shaken(recipe, arrays, metadata, double):
    """Whether a small change of the first weights has a large effect."""
    runs = (agree.torch_steps(recipe, near(arrays, SHAKEN, 100 + run), metadata, torch.float32)
            for run in range(SHAKEN_RUNS))
    return any(distances(weights, double)[1] > FARTHEST for weights, _ in runs)


def at_seed(twin_bench, recipe, settings, seed, folder):
    """The arrays that the golden holds of a seed, and whether they are to be taken."""
    path = f"{folder}/steps.safetensors"
    options = [f"--steps={STEPS}", f"--limit={STEPS * settings['batch']}", f"--seed={seed}",
               f"--batch={settings['batch']}", f"--lr-scale={settings.get('lr_scale', 1.0)}",
               f"--epsilon={settings.get('epsilon', 0.0)}"]
    subprocess.run([twin_bench, "steps", recipe, *options, "--out", path], check=True,
                   stdout=subprocess.DEVNULL)
    arrays, metadata = border.read(path)
    before = border.part(arrays, "before.")
    double, losses = agree.torch_steps(recipe, arrays, metadata, torch.float64)
    runs = [agree.torch_steps(recipe, varied(arrays, run), metadata, torch.float32)
            for run in settings["runs"]]
    found = [distances(weights, double) for weights, _ in runs]
    own = [total for _, total in found]
    taken = not settings["may_skip"] or (
        max(own) <= FARTHEST and not is_shaken(recipe, arrays, metadata, double))
    loss_own = np.max([np.abs(np.array(loss) - losses) for _, loss in runs], axis=0)
    ours = distances(border.part(arrays, "after."), double)[1]
    print(f"{recipe}, seed {seed}: PyTorch's float32 differs by "
          f"{', '.join(f'{total:.1e}' for total in own)} from its double, thimble by {ours:.1e}"
          f"{'' if taken else '; not taken'}", flush=True)
    return {"seed": seed, "own": short(max(own), 3),
            "loss": [short(loss, 9) for loss in losses],
            "loss_own": [short(apart, 3) for apart in loss_own],
            "arrays": {name: {"norm": short(agree.norm(array), 9),
                              "own": short(max(each[name] for each, _ in found), 3),
                              "before": projections(before[name], PROJECTIONS_BEFORE),
                              "after": projections(array, PROJECTIONS)}
                       for name, array in double.items()}}, taken


def golden(twin_bench, recipe, settings, folder):
    seeds = []
    for seed in itertools.count():
        found, taken = at_seed(twin_bench, recipe, settings, seed, folder)
        if taken:
            seeds.append(found)
        if len(seeds) == SEEDS:
            return {"steps": STEPS, "batch": settings["batch"],
                    "lr_scale": settings.get("lr_scale", 1.0),
                    "epsilon": settings.get("epsilon", 0.0), "seeds": seeds}


def main():
    torch.set_num_threads(1)
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in sys.argv[2:] or RECIPES:
            lines = json.dumps(golden(sys.argv[1], name, RECIPES[name], folder), indent=1)
            # One list of numbers per line, and one array of weights.
            lines = re.sub(r"\[\s+([^\[\]{}]*?)\s+\]",
                           lambda m: "[" + " ".join(m[1].split()) + "]", lines)
            lines = re.sub(r"\{\s+(\"norm\"[^{}]*?)\s+\}",
                           lambda m: "{" + " ".join(m[1].split()) + "}", lines)
            (OUT / f"{name}.json").write_text(lines + "\n")


if __name__ == "__main__":
    main()
