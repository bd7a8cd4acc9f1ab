"""Quality of training a quantized network on the device: by what is trained and by how, MCUNet of int8
on three tasks, and mobilenetv2, trained on five classes and quantized, on five others. Prints a table
of accuracies for bench/RESULTS.md.

    tiny_training.py --model mcunet5fps_int8.json --mnist DIR --out DIR [--task ...] [--trains ...]

Every finished run is kept in OUT/runs.json; a run that is there is not made again. So a call that was
stopped goes on where it was, and calls may divide the work.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import thimble as tb
from tiny_networks import Network, mcunet, mobilenet, shapes_of_classes

TASKS = {"mnist": "mcunet", "shapes": "mcunet", "rotated": "mcunet", "classes": "mobilenet"}
TRAINS = ("last", "biases", "sparse", "all")
# MCUNet in f32 with results rounded to the steps of int8, on request alone.
ROUNDED = "f32-rounded"
# Optimizer and quantization-aware scaling of each way.
WAYS: dict[str, tuple[Callable[[float], tb.Optimizer], bool]] = {
    "f32": (lambda lr: tb.SGD(lr=lr), True),
    ROUNDED: (lambda lr: tb.SGD(lr=lr), True),
    "int8": (lambda lr: tb.SGD(lr=lr), False),
    "int8-adam": (lambda lr: tb.Adam(lr=lr), False),
    "int8-qas": (lambda lr: tb.SGD(lr=lr), True),
}
# Those that are tried with the first seed, of a few parameters, and of all; the validation samples choose.
# Without scaling a rate is for integers.
RATES = {
    "f32": ((1.5e-3, 5e-3, 1.5e-2), (5e-4, 1.5e-3, 5e-3)),
    ROUNDED: ((1.5e-3, 5e-3, 1.5e-2), (5e-4, 1.5e-3, 5e-3)),
    "int8": ((30.0, 100.0, 300.0, 1000.0), (10.0, 30.0, 100.0)),
    "int8-adam": ((0.03, 0.1, 0.3), (0.03, 0.1)),
    "int8-qas": ((1.5e-3, 5e-3, 1.5e-2), (5e-4, 1.5e-3, 5e-3)),
}
# The last layer is new, and learns faster by so much.
HEAD = {"f32": 20.0, ROUNDED: 20.0, "int8": 20.0, "int8-adam": 4.0, "int8-qas": 20.0}
SIDE = 128


def enlarged(images: np.ndarray) -> np.ndarray:
    """Grey images [N, 28, 28] of 0..1 as [N, 128, 128, 3], bilinear."""
    at = (np.arange(SIDE) + 0.5) * 28 / SIDE - 0.5
    low = np.clip(np.floor(at).astype(int), 0, 27)
    high = np.minimum(low + 1, 27)
    part = np.clip(at - low, 0, 1).astype(np.float32)
    rows = images[:, low] * (1 - part[:, None]) + images[:, high] * part[:, None]
    both = rows[:, :, low] * (1 - part) + rows[:, :, high] * part
    return np.repeat(both[..., None], 3, axis=3)


def rotated(images: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Images [N, 28, 28], each turned by up to 45 degrees and inverted."""
    made = np.empty_like(images)
    rows, columns = np.mgrid[0:28, 0:28] - 13.5
    for i, image in enumerate(images):
        angle = random.uniform(-np.pi / 4, np.pi / 4)
        r = np.rint(rows * np.cos(angle) - columns * np.sin(angle) + 13.5).astype(int)
        c = np.rint(rows * np.sin(angle) + columns * np.cos(angle) + 13.5).astype(int)
        inside = (r >= 0) & (r < 28) & (c >= 0) & (c < 28)
        made[i] = np.where(inside, image[np.clip(r, 0, 27), np.clip(c, 0, 27)], 0)
    return 1 - made


Samples = dict[str, np.ndarray]


def samples_of(task: str, count: int, test: bool, args: argparse.Namespace) -> Samples:
    split = "test" if test else "train"
    if task == "classes":
        return shapes_of_classes(5, 10, count, seed=2, split=split)
    if task == "shapes":
        arrays = tb.data.shapes(count, seed=1, split=split, side=SIDE).arrays()
        images, labels = arrays["image"], arrays["label"]
    else:
        arrays = tb.data.mnist(args.mnist, split).take(count).arrays()
        images, labels = arrays["image"][..., 0], arrays["digit"]
        if task == "rotated":
            images = rotated(images, np.random.default_rng(7 if test else 5))
        images = enlarged(images)
    return {"input": (images - 0.5) / 0.5, "label": labels.astype(np.int32)}


def data_of(task: str, args: argparse.Namespace) -> dict[str, Samples]:
    """Training samples, those that choose a rate, and test samples."""
    known = samples_of(task, args.train + args.validation, False, args)
    return {
        "train": {name: array[: args.train] for name, array in known.items()},
        "validation": {name: array[args.train :] for name, array in known.items()},
        "test": samples_of(task, args.test, True, args),
    }


def run(
    key: dict[str, Any],
    rate: float,
    network: Network,
    data: dict[str, Samples],
    args: argparse.Namespace,
) -> list[float]:
    """Accuracies on the validation and test samples after training; 0 where the loss was not
    finite."""
    way, seed = key["way"], key["seed"]
    optimizer, scaling = WAYS[way]
    steps = args.epochs * -(-len(data["train"]["label"]) // args.batch)
    text = f"warmup:steps={steps // 10}/cosine"
    trainer = tb.Trainer(
        network.adapted(way, seed),
        optimizer=optimizer(rate),
        schedule=tb.Schedule.parse(text, lr=rate, total_steps=steps),
        groups=[tb.ParamGroup(f"{network.layers[-1]}.*", lr_scale=HEAD[way])],
        batch=args.batch,
        seed=seed,
        scheme=network.scheme(key["trains"]),
        quantization_aware_scaling=scaling,
        integer_rounding="residual",
        threads=args.threads,
    )
    network.start(trainer, way, seed)
    try:
        trainer.fit(data["train"], epochs=args.epochs, progress=False)
    except RuntimeError as error:
        print(f"  {error}", file=sys.stderr)
        return [0.0, 0.0]
    parts = (data["validation"], data["test"])
    return [float(trainer.evaluate(part).metrics["accuracy"]) for part in parts]


class Runs:
    """Finished runs, kept in a file."""

    def __init__(self, path: pathlib.Path, total: int) -> None:
        self.path = path
        self.done: dict[str, list[float]] = json.loads(path.read_text()) if path.exists() else {}
        self.left = total
        self.times: list[float] = []

    def accuracies(
        self, key: dict[str, Any], rate: float, make: Callable[[], list[float]]
    ) -> list[float]:
        name = json.dumps({**key, "rate": rate}, sort_keys=True)
        self.left -= 1
        if name not in self.done:
            start = time.monotonic()
            self.done[name] = make()
            new = self.path.with_suffix(".new")
            new.write_text(json.dumps(self.done, indent=1))
            new.replace(self.path)
            self.times.append(time.monotonic() - start)
            # Some of those that are left are known or asked for twice.
            minutes = statistics.mean(self.times) * self.left / 60
            what = " ".join(str(key[part]) for part in ("task", "trains", "way", "seed"))
            print(
                f"{what} {rate:g}: {self.done[name][1]:.4f} in {self.times[-1]:.0f} s, "
                f"at most {minutes:.0f} min left",
                file=sys.stderr,
                flush=True,
            )
        return self.done[name]


def table(args: argparse.Namespace) -> None:
    tasks, ways = args.task or list(TASKS), args.way or [way for way in WAYS if way != ROUNDED]
    trained = args.trains or list(TRAINS)
    calls = len(tasks) * sum(len(RATES[way][0]) + args.seeds for way in ways)
    runs = Runs(args.out / "runs.json", calls * len(trained))
    networks: dict[str, Network] = {}
    print("| task | trained | way | rate | accuracy, % | seeds |")
    print("| --- | --- | --- | ---: | ---: | --- |")
    for task in tasks:
        kind = TASKS[task]
        if kind not in networks:
            networks[kind] = mcunet(args.model) if kind == "mcunet" else mobilenet(args)
        network, data = networks[kind], data_of(task, args)
        for trains in trained:
            for way in ways:

                def of(seed: int, rate: float) -> list[float]:
                    key = {"task": task, "trains": trains, "way": way, "epochs": args.epochs}
                    key |= {"train": args.train, "batch": args.batch, "seed": seed}
                    return runs.accuracies(key, rate, lambda: run(key, rate, network, data, args))

                best = -max((of(0, rate)[0], -rate) for rate in RATES[way][trains == "all"])[1]
                all_seeds = [100 * of(seed, best)[1] for seed in range(args.seeds)]
                mean = statistics.mean(all_seeds)
                each = ", ".join(f"{accuracy:.1f}" for accuracy in all_seeds)
                print(f"| {task} | {trains} | {way} | {best:g} | {mean:.1f} | {each} |", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=pathlib.Path, required=True, help="mcunet5fps_int8.json")
    parser.add_argument("--mnist", required=True, help="folder with MNIST's IDX files")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--task", action="append", choices=TASKS, help="one of them [all]")
    parser.add_argument("--trains", action="append", choices=TRAINS, help="one of them [all]")
    parser.add_argument("--way", action="append", choices=WAYS, help="one of them [all but f32-rounded]")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--train", type=int, default=1000, help="training samples")
    parser.add_argument("--validation", type=int, default=200, help="that choose a rate")
    parser.add_argument("--test", type=int, default=1000, help="test samples")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--threads", type=int, default=0)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    table(args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
