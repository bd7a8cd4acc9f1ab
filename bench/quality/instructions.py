"""Fits the costs of the instruction model (src/search/instruction_costs.inc) to steps of exported C that
run in QEMU, each core with the target for it, and prints them with the error of every step.

    instructions.py --thimble PROGRAM --mcunet mcunet5fps_int8.json --out DIR

A step's kernels are counted one by one (scripts/qemu.sh --kernels). Ops that the exported C computes in
another form, such as convolutions row by row, are fitted together.
"""

from __future__ import annotations

import argparse
import collections
import json
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
CORES = {"m4": "cortex-m-dsp", "m7": "cortex-m-dsp", "m55": "helium"}  # and the target of each
KINDS = (
    "int8 products",
    "mixed products",
    "f32 products",
    "int8 elements",
    "f32 elements",
    "integer updates",
    "f32 updates",
)


def call(*command: str | pathlib.Path) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def models(args: argparse.Namespace) -> dict[str, list[str | pathlib.Path]]:
    """The steps: a name, and what `thimble plan` and `export-c` are given."""
    thimble, out = args.thimble, args.out
    mcunet = out / "mcunet.safetensors"
    loss = ("--loss", "softmax_cross_entropy", "--trainable", "*")
    call(thimble, "import", args.mcunet, *loss, "-o", mcunet)
    call(thimble, "train", "lenet5", "--epochs", "1", "--limit-train", "640", "--out", out / "f32")
    lenet = out / "lenet5_int8.safetensors"
    call(thimble, "quantize", out / "f32/checkpoint.safetensors", "-o", lenet)
    nodes = json.loads(args.mcunet.read_text())["nodes"]
    layers = [node["name"] for node in nodes if "weight" in node]
    schemes = {
        "last": {"bias_last": 1, "weights": {layers[-1]: 1}},
        "biases": {"bias_last": 10},
        "49kb": {
            "bias_last": 20,
            "weights": {layers[24]: 0.25, layers[27]: 0.5, layers[30]: 0.5},
        },
    }
    made: dict[str, list[str | pathlib.Path]] = {
        "lenet5 sgd": ["lenet5", "--batch", "1", "--optimizer", "sgd"],
        "lenet5 int8 sgd": [lenet, "--batch", "1", "--optimizer", "sgd"],
    }
    part = out / "conv.json"
    part.write_text(json.dumps({"bias_last": 4, "weights": {"conv2": 1}}))
    made["lenet5 int8 adam"] = [
        *(lenet, "--batch", "1", "--optimizer", "adam", "--scheme", part),
    ]
    for name, scheme in schemes.items():
        file = out / f"{name}.json"
        file.write_text(json.dumps(scheme))
        made[f"mcunet {name}"] = [
            *(mcunet, "--batch", "1", "--optimizer", "sgd", "--scheme", file),
        ]
    return made


def counts(file: pathlib.Path) -> dict[str, float]:
    """Instructions by value of a training step: the mean of those in the file."""
    sums: dict[tuple[str, str], list[float]] = collections.defaultdict(list)
    for line in file.read_text().splitlines():
        function, kernel, value, count = line.split(" ")
        if function == "train_step":
            sums[kernel, value].append(float(count))
    if not sums:
        raise RuntimeError(f"{file} has no kernel of a training step")
    made: dict[str, float] = collections.defaultdict(float)
    for (_, value), each in sums.items():
        made[value] += sum(each) / len(each)
    return made


def features(ops: list[dict[str, Any]]) -> np.ndarray:
    """[call, result, kinds ...] summed over ops."""
    row = np.zeros(2 + len(KINDS))
    for op in ops:
        row[0] += 1
        row[1] += op["results"]
        row[2 + KINDS.index(op["kind"])] += op["units"]
    return row


def fitted(rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Least squares of relative errors, costs not negative: by coordinate descent."""
    # What is small counts less: a step is made of the large ones.
    weight = wanted**-0.5
    a, b = rows * weight[:, None], wanted * weight
    scale = np.maximum(np.sqrt((a * a).sum(0)), 1e-9)
    a = a / scale
    x = np.zeros(a.shape[1])
    for _ in range(20000):
        for i in range(len(x)):
            rest = b - a @ x + a[:, i] * x[i]
            x[i] = max(0.0, a[:, i] @ rest)
    return x / scale


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--thimble", type=pathlib.Path, required=True)
    parser.add_argument("--mcunet", type=pathlib.Path, required=True, help="mcunet5fps_int8.json")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    steps = models(args)
    ops = {}
    for name, given in steps.items():
        plan = json.loads(call(args.thimble, "plan", *given, "--instructions", "--json", "--samples", "8"))
        ops[name] = plan["instructions"]["ops"]
        for target in sorted(set(CORES.values())):
            out = args.out / f"{name.replace(' ', '_')}-{target}"
            call(args.thimble, "export-c", *given, "--target", target, "--out", out)
    for core, target in CORES.items():
        rows, wanted, totals = [], [], {}
        for name in steps:
            folder = args.out / f"{name.replace(' ', '_')}-{target}"
            out = args.out / f"{folder.name}-{core}"
            qemu = (ROOT / "scripts/qemu.sh", folder, "--board", core, "--ram", "1M", "--kernels")
            if not (out / "kernels.txt").exists():
                call(*qemu, "--out", out)
            known = counts(out / "kernels.txt")
            totals[name] = sum(known.values())
            apart = []
            by_value = collections.defaultdict(list)
            for op in ops[name]:
                by_value[op["value"]].append(op)
            for value, of_value in by_value.items():
                if value in known:
                    rows.append(features(of_value))
                    wanted.append(known.pop(value))
                else:
                    apart += of_value
            if known:
                rows.append(features(apart))
                wanted.append(sum(known.values()))
            # Whole steps count as much as all of their kernels.
            rows.append(features(ops[name]))
            wanted.append(totals[name])
        costs = fitted(np.array(rows), np.maximum(np.array(wanted), 1.0))
        numbers = ", ".join(f"{cost:.2f}" for cost in costs[2:])
        print(f"    {{{costs[0]:.1f}, {costs[1]:.2f}, {{{numbers}}}}},  // {core}")
        for name in steps:
            made = float(features(ops[name]) @ costs)
            print(
                f"| {name} | {core} | {totals[name] / 1e6:.2f} | {made / 1e6:.2f} | "
                f"{100 * (made / totals[name] - 1):+.0f} |",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
