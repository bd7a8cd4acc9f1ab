"""Quality of training a quantized network on the device: MCUNet of int8, fine-tuned on three tasks, by
what is trained and by how. Prints a table of accuracies for bench/RESULTS.md.

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

TASKS = ("mnist", "shapes", "rotated")
TRAINS = ("last", "biases", "sparse", "all")
# Optimizer and quantization-aware scaling of each way.
WAYS: dict[str, tuple[Callable[[float], tb.Optimizer], bool]] = {
    "f32": (lambda lr: tb.SGD(lr=lr, momentum=0.9), True),
    "int8": (lambda lr: tb.SGD(lr=lr, momentum=0.9), False),
    "int8-adam": (lambda lr: tb.Adam(lr=lr), False),
    "int8-qas": (lambda lr: tb.SGD(lr=lr, momentum=0.9), True),
}
# Rates that are tried on the first seed; the one of the best accuracy is taken for all.
RATES = {
    "f32": (3e-5, 1e-4, 3e-4, 1e-3),
    "int8": (0.1, 1.0, 10.0, 100.0),
    "int8-adam": (0.01, 0.03, 0.1, 0.3),
    "int8-qas": (3e-5, 1e-4, 3e-4, 1e-3),
}
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


def samples_of(task: str, count: int, test: bool, args: argparse.Namespace) -> dict[str, np.ndarray]:
    split = "test" if test else "train"
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


def int8_network(path: pathlib.Path, seed: int) -> tuple[tb.Graph, dict[str, np.ndarray]]:
    return adapted(tb.import_quantized_json(path), seed), {}


def adapted(graph: tb.Graph, seed: int) -> tb.Graph:
    return tb.adapt(
        graph,
        loss="softmax_cross_entropy",
        metrics=["accuracy"],
        classes=10,
        seed=seed,
        f32_inputs=True,
        trainable=["*"],
    )


def f32_network(path: pathlib.Path, seed: int) -> tuple[tb.Graph, dict[str, np.ndarray]]:
    """The network in f32, and its weights: what the integers stand for. Results stay in the range that
    int8 has for them."""
    model = json.loads(path.read_text())
    tensors = tb.load_safetensors(path.with_suffix(".safetensors"))
    g = tb.Graph()
    values = {"input": g.input("input", tuple(model["input"]["shape"][1:]))}
    weights: dict[str, np.ndarray] = {}

    def bounded(y: tb.Value, node: dict[str, Any]) -> tb.Value:
        scale, zero = node["output_scale"], node["output_zero_point"]
        return tb.clip(y, low=(-128 - zero) * scale, high=(127 - zero) * scale)

    for node in model["nodes"]:
        if "weight" in node:
            scales = np.asarray(tensors[node["weight_scale"]], np.float32)
            integers = np.asarray(tensors[node["weight"]], np.float32)
            bias = np.asarray(tensors[node["bias"]], np.float64) * scales * node["input_scale"]
            y = tb.conv2d(
                values[node["input"]],
                channels=integers.shape[0],
                kernel=tuple(node["kernel"]),
                stride=node["stride"],
                padding=node["padding"],
                groups=node["groups"],
                name=node["name"],
            )
            weights[f"{node['name']}.weight"] = integers * scales[:, None, None, None]
            weights[f"{node['name']}.bias"] = bias.astype(np.float32)
            y = bounded(y, node)
        elif node["op"] == "add":
            a, b = (values[name] for name in node["inputs"])
            y = bounded(a + b, node)
        else:
            x = values[node["input"]]
            y = tb.average_pool2d(x, kernel=x.shape[1])
        values[node["output"]] = y
    g.output("logits", tb.flatten(y))
    head = {f"{node['name']}.weight", f"{node['name']}.bias"} if "weight" in node else set()
    return adapted(g, seed), {name: w for name, w in weights.items() if name not in head}


def scheme_of(trains: str, layers: list[str]) -> dict[str, Any]:
    """layers: with weights, in order. Sparse: Lin et al.'s "49kb" scheme of this network."""
    last = layers[-1]
    if trains == "last":
        return {"bias_last": 1, "weights": {last: 1}}
    if trains == "biases":
        return {"bias_last": len(layers), "weights": {last: 1}}
    if trains == "sparse":
        parts = {layers[24]: 0.25, layers[27]: 0.5, layers[30]: 0.5, last: 1}
        return {"bias_last": 20, "weights": parts}
    return {"bias_last": len(layers), "weights": {layer: 1 for layer in layers}}


def run(key: dict[str, Any], rate: float, data: dict[str, Any], args: argparse.Namespace) -> float:
    """The accuracy on the test samples after training; 0 where the loss was not finite."""
    make = f32_network if key["way"] == "f32" else int8_network
    graph, weights = make(args.model, key["seed"])
    nodes = json.loads(args.model.read_text())["nodes"]
    layers = [node["name"] for node in nodes if "weight" in node]
    optimizer, scaling = WAYS[key["way"]]
    steps = args.epochs * -(-len(data["train"]["label"]) // args.batch)
    trainer = tb.Trainer(
        graph,
        optimizer=optimizer(rate),
        schedule=tb.Schedule.parse("cosine", lr=rate, total_steps=steps),
        batch=args.batch,
        seed=key["seed"],
        scheme=scheme_of(key["trains"], layers),
        quantization_aware_scaling=scaling,
        threads=args.threads,
    )
    if weights:
        trainer.load_state_dict(weights, strict=False)
    try:
        trainer.fit(data["train"], epochs=args.epochs, progress=False)
    except RuntimeError as error:
        print(f"  {error}", file=sys.stderr)
        return 0.0
    return float(trainer.evaluate(data["test"]).metrics["accuracy"])


class Runs:
    """Finished runs, kept in a file."""

    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self.done: dict[str, float] = json.loads(path.read_text()) if path.exists() else {}

    def accuracy(self, key: dict[str, Any], rate: float, make: Callable[[], float]) -> float:
        name = json.dumps({**key, "rate": rate}, sort_keys=True)
        if name not in self.done:
            start = time.monotonic()
            self.done[name] = make()
            new = self.path.with_suffix(".new")
            new.write_text(json.dumps(self.done, indent=1))
            new.replace(self.path)
            seconds = time.monotonic() - start
            print(f"{name}: {self.done[name]:.4f} in {seconds:.0f} s", file=sys.stderr, flush=True)
        return self.done[name]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=pathlib.Path, required=True, help="mcunet5fps_int8.json")
    parser.add_argument("--mnist", required=True, help="folder with MNIST's IDX files")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--task", action="append", choices=TASKS, help="one of them [all]")
    parser.add_argument("--trains", action="append", choices=TRAINS, help="one of them [all]")
    parser.add_argument("--way", action="append", choices=WAYS, help="one of them [all]")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--train", type=int, default=1000, help="training samples")
    parser.add_argument("--test", type=int, default=1000, help="test samples")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--threads", type=int, default=0)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    runs = Runs(args.out / "runs.json")
    print("| task | trained | way | rate | accuracy, % | seeds |")
    print("| --- | --- | --- | ---: | ---: | --- |")
    for task in args.task or TASKS:
        data = {
            "train": samples_of(task, args.train, False, args),
            "test": samples_of(task, args.test, True, args),
        }
        for trains in args.trains or TRAINS:
            for way in args.way or WAYS:
                key = {"task": task, "trains": trains, "way": way, "epochs": args.epochs}
                key |= {"train": args.train, "batch": args.batch}

                def of(seed: int, rate: float) -> float:
                    full = {**key, "seed": seed}
                    return runs.accuracy(full, rate, lambda: run(full, rate, data, args))

                best = max(RATES[way], key=lambda rate: of(0, rate))
                all_seeds = [100 * of(seed, best) for seed in range(args.seeds)]
                mean = statistics.mean(all_seeds)
                each = ", ".join(f"{accuracy:.1f}" for accuracy in all_seeds)
                print(f"| {task} | {trains} | {way} | {best:g} | {mean:.1f} | {each} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
