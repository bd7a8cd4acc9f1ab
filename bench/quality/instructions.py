"""Fits the costs of the instruction model (src/search/instruction_costs.inc) to steps of exported C that
run in QEMU, each core with the target for it, and prints them with the error of every step.

    instructions.py --thimble PROGRAM --mcunet mcunet5fps_int8.json [--tflite DIR] --out DIR

A step's kernels are counted one by one (scripts/qemu.sh --kernels). Steps marked with * are not fitted: they
tell how far the model holds for networks that it has not seen. --tflite has the networks
of MLPerf Tiny: kws_ref_model.tflite, pretrainedResnet_quant.tflite and vww_96_int8.tflite.
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
LOOPS = ("tiles", "depthwise", "rows", "plain", "plain depthwise")
KINDS = (
    *(f"int8 {loop}" for loop in LOOPS),
    *(f"mixed {loop}" for loop in LOOPS),
    "f32 products",
    "windows",
    "int8 elements",
    "f32 elements",
    "integer updates",
    "f32 updates",
)
NOT_FITTED = "*"  # at the end of a step's name


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
    call(thimble, "train", "mlp", "--epochs", "1", "--limit-train", "640", "--out", out / "mlp_f32")
    mlp = out / "mlp_int8.safetensors"
    call(thimble, "quantize", out / "mlp_f32/checkpoint.safetensors", "-o", mlp)
    part = out / "mlp.json"
    part.write_text(json.dumps({"bias_last": 3, "weights": {"dense3": 1, "dense2": 0.125}}))
    made[f"mlp int8 parts{NOT_FITTED}"] = [
        *(mlp, "--batch", "1", "--optimizer", "sgd", "--scheme", part),
    ]
    if args.tflite:
        made |= tflite_models(args)
    return made


def tflite_models(args: argparse.Namespace) -> dict[str, list[str | pathlib.Path]]:
    """Steps of networks in fixed point: one trained whole, and in parts."""
    loss = ("--loss", "softmax_cross_entropy", "--trainable", "*")
    files = {
        "kws": ("kws_ref_model", {"quantized_conv2d_9": 0.5, "quantized_conv2d_8": 1}),
        "resnet": ("pretrainedResnet_quant", {"quantized_conv2d_8": 0.25, "quantized_conv2d_9": 1}),
        "vww": ("vww_96_int8", {"quantized_conv2d_27": 0.25, "quantized_conv2d_24": 1}),
    }
    made: dict[str, list[str | pathlib.Path]] = {}
    for name, (file, weights) in files.items():
        model = args.out / f"{name}.safetensors"
        call(args.thimble, "import", args.tflite / f"{file}.tflite", *loss, "-o", model)
        scheme = args.out / f"{name}.json"
        scheme.write_text(json.dumps({"bias_last": 6, "weights": weights | {"quantized_dense_1": 1}}))
        mark = "" if name == "resnet" else NOT_FITTED
        made[f"{name} parts{mark}"] = [
            *(model, "--batch", "1", "--optimizer", "sgd:momentum=0.9", "--scheme", scheme),
        ]
    made["kws sgd"] = [args.out / "kws.safetensors", "--batch", "1", "--optimizer", "sgd"]
    return made


def folder_of(args: argparse.Namespace, name: str, target: str) -> pathlib.Path:
    return args.out / f"{name.removesuffix(NOT_FITTED).replace(' ', '_')}-{target}"


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
    """[call, units by kind ..., results by kind ...] summed over ops."""
    row = np.zeros(1 + 2 * len(KINDS))
    for op in ops:
        row[0] += 1
        for part in op["work"]:
            kind = 1 + KINDS.index(part["kind"])
            row[kind] += part["units"]
            row[kind + len(KINDS)] += part["results"]
    return row


def fitted(rows: np.ndarray, wanted: np.ndarray, is_step: np.ndarray) -> np.ndarray:
    """Least squares of relative errors, costs not negative: by coordinate descent."""
    # Small kernels count less: a step is made of the large ones. All steps count the same.
    weight = np.where(is_step, np.sqrt(wanted[is_step].mean()) / wanted, wanted**-0.5)
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
    parser.add_argument("--tflite", type=pathlib.Path, help="folder of MLPerf Tiny's networks [none]")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    steps = models(args)
    ops = {}
    for name, given in steps.items():
        plan = json.loads(call(args.thimble, "plan", *given, "--instructions", "--json", "--samples", "8"))
        ops[name] = plan["instructions"]["ops"]
        for target in sorted(set(CORES.values())):
            call(
                args.thimble, "export-c", *given, "--target", target, "--out", folder_of(args, name, target)
            )
    for core, target in CORES.items():
        rows, wanted, is_step, totals = [], [], [], {}
        for name in steps:
            folder = folder_of(args, name, target)
            out = args.out / f"{folder.name}-{core}"
            qemu = (ROOT / "scripts/qemu.sh", folder, "--board", core, "--ram", "1M", "--kernels")
            if not (out / "kernels.txt").exists():
                call(*qemu, "--out", out)
            known = counts(out / "kernels.txt")
            totals[name] = sum(known.values())
            if name.endswith(NOT_FITTED):
                continue
            by_value = collections.defaultdict(list)  # parts of a sum have its name
            for op in ops[name]:
                by_value[op["value"]].append(op)
            for value, of_value in by_value.items():
                rows.append(features(of_value))
                wanted.append(known.pop(value))
                is_step.append(False)
            if known:
                raise RuntimeError(f"{name}: no op of the model computes {sorted(known)}")
            rows.append(features(ops[name]))
            wanted.append(totals[name])
            is_step.append(True)
        costs = fitted(np.array(rows), np.maximum(np.array(wanted), 1.0), np.array(is_step))
        units, results = (
            ", ".join(f"{cost:.2f}" for cost in part) for part in np.split(costs[1:], 2)
        )
        print(f"    // {core}\n    {{{costs[0]:.0f},\n     {{{units}}},\n     {{{results}}}}},")
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
