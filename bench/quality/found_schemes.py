"""Accuracy of the sparse update that `thimble search` finds for MCUNet beside Lin et al.'s "49kb"
scheme, at no more memory. Prints a table for bench/RESULTS.md.

    found_schemes.py --thimble thimble --model mcunet5fps_int8.json --mnist DIR --out DIR [--task ...]

For each task: `thimble analyze` scores the parts of the network on samples that neither trains nor
tests a scheme. `thimble search` finds schemes of high gains whose planned peak, as C of `thimble
export-c` at batch 1, is at most that of the 49kb scheme, trains them, and takes the one of the best
score on the same samples. It and the 49kb scheme are then trained as in tiny_training.py. What is
finished is kept in OUT: the same command goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import statistics
import subprocess
import sys
from typing import Any

import numpy as np
import thimble as tb
import tiny_training
from tiny_networks import Network, mcunet

TASKS = ("mnist", "shapes", "rotated")
WAY = "int8-qas"
RATE = 5e-3
# Convolutions of one pixel: those that widen the two blocks before the first that the 49kb scheme
# trains, and both of that block and the next two.
LAYERS = (
    *("v7_conv_0", "v8_conv_0", "v9_conv_0", "v9_conv_2", "v10_conv_0", "v10_conv_2"),
    *("v11_conv_0", "v11_conv_2"),
)
# Bytes that hold every scheme.
AMPLE = 64 << 20


def call(*command: object) -> str:
    words = [str(word) for word in command]
    print("  " + " ".join(words), file=sys.stderr)
    made = subprocess.run(words, check=True, stdout=subprocess.PIPE)
    return made.stdout.decode().strip().splitlines()[-1]


def model_file(network: Network, out: pathlib.Path) -> pathlib.Path:
    """The adapted network with its new last layer, as a scheme's training begins."""
    path = out / "mcunet.safetensors"
    if not path.exists():
        trainer = tb.Trainer(network.adapted(WAY, 0), optimizer=tb.SGD(lr=0.0), batch=1, threads=1)
        network.start(trainer, WAY, 0)
        tb.save_model(trainer, path)
    return path


def data_file(task: str, args: argparse.Namespace) -> pathlib.Path:
    """Training samples of parts and candidates, and samples behind all that train a scheme, which
    score them."""
    path = args.out / f"{task}.{args.analyzed}.{args.scored}.npz"
    if not path.exists():
        known = tiny_training.samples_of(task, args.train + args.scored, False, args)
        train, test = slice(0, args.analyzed), slice(args.train, None)
        np.savez(
            path,
            **{"x_train": known["input"][train], "y_train": known["label"][train]},
            **{"x_test": known["input"][test], "y_test": known["label"][test]},
        )
    return path


def training_words(network: Network, args: argparse.Namespace) -> list[object]:
    """Options of the trainings of `thimble analyze` and `thimble search`, but the batch."""
    steps = args.analyzed_epochs * -(-args.analyzed // 8)
    return [
        *("--optimizer", "sgd", "--lr", RATE, "--lr-scale", f"{network.layers[-1]}.*=20"),
        *("--schedule", f"warmup:steps={steps // 10}/cosine", "--epochs", args.analyzed_epochs),
        *("--integer-rounding", "residual", "--threads", args.threads),
    ]


def contributions(
    task: str, model: pathlib.Path, network: Network, args: argparse.Namespace
) -> pathlib.Path:
    """What the parts add."""
    parts = args.out / f"{task}.parts.json"
    if parts.exists():
        return parts
    layers = [word for layer in args.layer or LAYERS for word in ("--layer", layer)]
    call(
        *(args.thimble, "analyze", model, "--data", data_file(task, args)),
        *(*training_words(network, args), "--batch", 8, "--ratio", "0.25,0.5,1", *layers),
        *("--most-biases", 1, "-o", parts, "--report", args.out / f"{task}.parts.html", "--json"),
    )
    return parts


def searched(
    name: str,
    model: pathlib.Path,
    parts: pathlib.Path,
    budget: int,
    trainings: list[object],
    args: argparse.Namespace,
) -> dict[str, Any]:
    """The report of `thimble search`: scheme and bytes, and of trained schemes the scores."""
    report = args.out / f"{name}.found.json"
    if not report.exists():
        made = call(
            *(args.thimble, "search", model, "--parts", parts, "--batch", 1, *trainings),
            *("--frozen-in-flash", "--memory-budget", budget, "--plans", args.plans),
            *("-o", args.out / f"{name}.scheme.json", "--json"),
        )
        report.write_text(made)
    return json.loads(report.read_text())


def bytes_of(
    name: str,
    scheme: dict[str, Any],
    network: Network,
    model: pathlib.Path,
    args: argparse.Namespace,
) -> int:
    """The planned peak of a scheme, as the search counts it: that of a search among its parts."""
    layers = network.layers
    last = scheme["bias_last"]
    own = {layer: ratio for layer, ratio in scheme["weights"].items() if layer != layers[-1]}
    depth = {layer: len(layers) - layers.index(layer) for layer in own}
    biases = [{"last": count, "score": float(count == last)} for count in sorted({last, *depth.values()})]
    weights = [
        {"layer": layer, "ratio": ratio, "biases": depth[layer], "score": 2.0}
        for layer, ratio in own.items()
    ]
    alone = args.out / f"{name}.parts.json"
    alone.write_text(
        json.dumps(
            {"metric": "accuracy", "last_layer": layers[-1], "base": 0.0}
            | {"biases": biases, "weights": weights}
        )
    )
    made = searched(name, model, alone, AMPLE, training_words(network, args), args)
    if made["scheme"]["bias_last"] != last or made["scheme"]["weights"] != scheme["weights"]:
        raise RuntimeError(f"the search changed the scheme {name} to {made['scheme']}")
    return made["bytes"]


def accuracies(
    task: str,
    name: str,
    scheme: dict[str, Any],
    network: Network,
    data: dict[str, Any],
    args: argparse.Namespace,
) -> list[float]:
    """On the test samples, of each seed, in percent."""
    path = args.out / "runs.json"
    made = []
    for seed in range(args.seeds):
        key = json.dumps([task, name, scheme, args.train, args.epochs, args.test, seed], sort_keys=True)
        done = json.loads(path.read_text()) if path.exists() else {}
        if key not in done:
            run = {"way": WAY, "seed": seed, "trains": scheme}
            done[key] = tiny_training.run(run, RATE, network, data, args)[1]
            path.write_text(json.dumps(done, indent=1))
            print(f"  {task} {name} {seed}: {done[key]:.4f}", file=sys.stderr, flush=True)
        made.append(100 * done[key])
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--thimble", type=pathlib.Path, required=True, help="the program")
    parser.add_argument("--model", type=pathlib.Path, required=True, help="mcunet5fps_int8.json")
    parser.add_argument("--mnist", required=True, help="folder with MNIST's IDX files")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--task", action="append", choices=TASKS, help="one of them [all]")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--train", type=int, default=480, help="training samples of a scheme")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--test", type=int, default=1000, help="test samples of a scheme")
    parser.add_argument("--analyzed", type=int, default=240, help="training samples of a part")
    parser.add_argument("--analyzed-epochs", type=int, default=3)
    parser.add_argument("--scored", type=int, default=500, help="samples that score a part")
    parser.add_argument("--layer", action="append", help="whose weights are parts [those of LAYERS]")
    parser.add_argument("--verify", type=int, default=8, help="schemes that a search trains; 0: none")
    parser.add_argument("--search-seeds", type=int, default=1, help="trainings of each of them")
    parser.add_argument("--plans", type=int, default=400, help="of a search")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--threads", type=int, default=0)
    args = parser.parse_args()
    args.validation = 8  # not asked for here
    args.out.mkdir(parents=True, exist_ok=True)
    network = mcunet(args.model)
    model = model_file(network, args.out)
    known = network.scheme("sparse")
    print("| task | scheme | bytes | mean | seeds |")
    print("| --- | --- | ---: | ---: | --- |")
    for task in args.task or TASKS:
        parts = contributions(task, model, network, args)
        limit = bytes_of("49kb", known, network, model, args)
        trainings = [
            *(*training_words(network, args), "--train-batch", 8, "--verify", args.verify),
            *("--seeds", args.search_seeds, "--data", data_file(task, args)),
        ]
        found = searched(f"{task}.{args.verify}", model, parts, limit, trainings, args)
        data = tiny_training.data_of(task, args)
        for name, scheme, used in (
            ("49kb", known, limit),
            ("found", found["scheme"], found["bytes"]),
        ):
            all_seeds = accuracies(task, name, scheme, network, data, args)
            each = ", ".join(f"{accuracy:.1f}" for accuracy in all_seeds)
            mean = statistics.mean(all_seeds)
            print(f"| {task} | {name} | {used:,} | {mean:.1f} | {each} |", flush=True)
        print(f"{task}: {json.dumps(found['scheme'])}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
