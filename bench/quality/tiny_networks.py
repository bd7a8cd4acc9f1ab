"""The networks of tiny_training.py: each on int8, and its twin in f32."""

from __future__ import annotations

import argparse
import dataclasses
import json
import pathlib
import sys
from typing import Any

import numpy as np
import thimble as tb


@dataclasses.dataclass
class Network:
    """int8: the graph of int8 with its weights. f32: the twin, whose weights are in `weights`;
    rounded: the same, whose results are rounded to the steps of int8. layers: those with weights, in order; the last one is replaced. sparse: what the way "sparse"
    trains."""

    int8: tb.Graph
    f32: tb.Graph
    weights: dict[str, np.ndarray]
    layers: list[str]
    sparse: dict[str, Any]
    classes: int
    rounded: tb.Graph | None = None

    def adapted(self, way: str, seed: int) -> tb.Graph:
        """With a loss, a last layer of the task's classes, and all of it trainable."""
        graph = {"f32": self.f32, "f32-rounded": self.rounded}.get(way, self.int8)
        if graph is None:
            raise RuntimeError("this network has no twin with rounded results: leave out f32-rounded")
        return tb.adapt(
            graph,
            loss="softmax_cross_entropy",
            metrics=["accuracy"],
            classes=self.classes,
            seed=seed,
            f32_inputs=True,
            trainable=["*"],
        )

    def start(self, trainer: tb.Trainer, way: str, seed: int) -> None:
        """Gives a trainer of the adapted network its weights. The new last layer is the same in f32
        and int8: adapt draws whole numbers up to 31, which stand for 1 / sqrt(inputs)."""
        head = f"{self.layers[-1]}.weight"
        shape = np.asarray(trainer.state_dict()[head]).shape
        integers = np.random.default_rng(seed).integers(-31, 32, shape)
        if not way.startswith("f32"):
            trainer.load_state_dict({head: integers.astype(np.int8)}, strict=False)
            return
        unit = 1 / (31 * np.sqrt(np.prod(shape[1:])))
        own = {
            head: (integers * unit).astype(np.float32),
            f"{self.layers[-1]}.bias": np.zeros(self.classes, np.float32),
        }
        given = {k: w for k, w in self.weights.items() if not k.startswith(f"{self.layers[-1]}.")}
        trainer.load_state_dict(given | own, strict=False)

    def scheme(self, trains: str | dict[str, Any]) -> dict[str, Any]:
        """Of a way of TRAINS; a scheme itself is returned as it is."""
        last = self.layers[-1]
        if isinstance(trains, dict):
            return trains
        if trains == "last":
            return {"bias_last": 1, "weights": {last: 1}}
        if trains == "biases":
            return {"bias_last": len(self.layers), "weights": {last: 1}}
        if trains == "sparse":
            return {"bias_last": 20, "weights": {**self.sparse, last: 1}}
        return {"bias_last": len(self.layers), "weights": {layer: 1 for layer in self.layers}}


def mcunet_twin(
    model: dict[str, Any], tensors: dict[str, Any], rounded: bool
) -> tuple[tb.Graph, dict[str, np.ndarray]]:
    """MCUNet-5fps in f32, and its weights: those that the integers stand for. Results stay in the
    range that int8 has for them, and are rounded to its steps on request."""
    g = tb.Graph()
    values = {"input": g.input("input", tuple(model["input"]["shape"][1:]))}
    weights: dict[str, np.ndarray] = {}

    def bounded(y: tb.Value, node: dict[str, Any]) -> tb.Value:
        scale, zero = node["output_scale"], node["output_zero_point"]
        if rounded:
            step = g.constant(np.asarray([scale], np.float32), name=f"{node['output']}.step")
            return tb.fake_quantize(y, step, zero_point=zero)
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
    return g, weights


def mcunet(path: pathlib.Path) -> Network:
    """MCUNet-5fps of a file of int8, with its twins."""
    model = json.loads(path.read_text())
    tensors = tb.load_safetensors(path.with_suffix(".safetensors"))
    g, weights = mcunet_twin(model, tensors, False)
    rounded, _ = mcunet_twin(model, tensors, True)
    layers = [node["name"] for node in model["nodes"] if "weight" in node]
    # Lin et al.'s "49kb" scheme of this network.
    sparse = {layers[24]: 0.25, layers[27]: 0.5, layers[30]: 0.5}
    return Network(tb.import_quantized_json(path), g, weights, layers, sparse, 10, rounded)


# Of MobileNetV2 at width 0.35: expansion, channels, blocks, stride of the first block.
STAGES = (
    (1, 8, 1, 1),
    (6, 8, 2, 2),
    (6, 16, 3, 2),
    (6, 24, 4, 2),
    (6, 32, 3, 1),
    (6, 56, 3, 2),
    (6, 112, 1, 1),
)
MOBILENET_SIDE = 96
EPSILON = 1e-5  # of batch norms


def folded_mobilenet() -> tuple[tb.Graph, dict[str, str]]:
    """The recipe mobilenetv2 without batch norms: their scale and shift are of the convolutions
    before them. Returns the norm of each layer, too."""
    g = tb.Graph()
    norms: dict[str, str] = {}

    def conv(x: tb.Value, name: str, norm: str, relu: bool, **settings: Any) -> tb.Value:
        norms[name] = norm
        y = tb.conv2d(x, name=name, **settings)
        return tb.relu6(y) if relu else y

    def conv_relu(x: tb.Value, name: str, **settings: Any) -> tb.Value:
        return conv(x, f"{name}.0", f"{name}.1", True, **settings)

    x = g.input("image", (MOBILENET_SIDE, MOBILENET_SIDE, 3))
    x = conv_relu(x, "features.0", channels=16, kernel=3, stride=2, padding=1)
    block = 1
    for expansion, channels, blocks, stride in STAGES:
        for i in range(blocks):
            name = f"features.{block}.conv"
            hidden = x.shape[-1] * expansion
            y, part = x, 0
            if expansion != 1:
                y, part = conv_relu(y, f"{name}.0", channels=hidden, kernel=1), 1
            y = conv_relu(
                y,
                f"{name}.{part}",
                channels=hidden,
                kernel=3,
                stride=stride if i == 0 else 1,
                padding=1,
                groups=hidden,
            )
            project, norm = f"{name}.{part + 1}", f"{name}.{part + 2}"
            y = conv(y, project, norm, False, channels=channels, kernel=1)
            x = x + y if y.shape == x.shape else y
            block += 1
    x = conv_relu(x, f"features.{block}", channels=1280, kernel=1)
    x = tb.flatten(tb.average_pool2d(x, kernel=x.shape[1]))
    g.output("logits", tb.dense(x, units=10, name="classifier.1"))
    return g, norms


def folded_weights(state: dict[str, np.ndarray], norms: dict[str, str]) -> dict[str, np.ndarray]:
    weights = {k: state[k] for k in ("classifier.1.weight", "classifier.1.bias")}
    for layer, norm in norms.items():
        variance = state[f"{norm}.running_var"]
        gain = state[f"{norm}.weight"] / np.sqrt(variance + EPSILON)
        weights[f"{layer}.weight"] = state[f"{layer}.weight"] * gain[:, None, None, None]
        shift = state[f"{norm}.bias"] - state[f"{norm}.running_mean"] * gain
        weights[f"{layer}.bias"] = shift.astype(np.float32)
    return weights


def shapes_of_classes(low: int, high: int, count: int, **settings: Any) -> dict[str, np.ndarray]:
    """Built-in shapes of the classes low to high - 1, which become 0 and so on."""
    arrays = tb.data.shapes(count * 10 // (high - low), side=MOBILENET_SIDE, **settings).arrays()
    taken = (arrays["label"] >= low) & (arrays["label"] < high)
    labels = (arrays["label"][taken] - low).astype(np.int32)
    return {"image": arrays["image"][taken], "label": labels}


PRETRAINING_SAMPLES = 2000
PRETRAINING_EPOCHS = 6


def mobilenet(args: argparse.Namespace) -> Network:
    """The recipe mobilenetv2, trained on the first five classes of the built-in shapes, then
    quantized."""
    recipe = tb.recipes.recipe("mobilenetv2")
    steps = PRETRAINING_EPOCHS * PRETRAINING_SAMPLES // recipe.batch
    trainer = recipe.trainer(schedule=recipe.schedule(steps), threads=args.threads)
    data = shapes_of_classes(0, 5, PRETRAINING_SAMPLES, seed=1)
    test = shapes_of_classes(0, 5, 500, seed=1, split="test")
    path = args.out / "mobilenetv2.safetensors"
    if path.exists():
        trainer.load_weights(path)
    else:
        trainer.fit(data, epochs=PRETRAINING_EPOCHS, progress=False)
        trainer.save(path)
    graph, norms = folded_mobilenet()
    weights = folded_weights({k: np.asarray(v) for k, v in trainer.state_dict().items()}, norms)
    whole = tb.adapt(graph, loss="softmax_cross_entropy", metrics=["accuracy"])
    twin = tb.Trainer(whole, optimizer=tb.SGD(lr=0.0), batch=8, threads=args.threads)
    twin.load_state_dict(weights)
    made = tb.quantize_model(twin, data, threads=args.threads)
    if made.float_layers:
        raise RuntimeError(f"layers without an int8 form: {made.float_layers}")
    int8 = tb.Trainer(made.graph, optimizer=tb.SGD(lr=0.0), batch=8, threads=args.threads)
    accuracies = [100 * float(t.evaluate(test).metrics["accuracy"]) for t in (trainer, twin, int8)]
    print(
        "mobilenetv2 on the first classes: {:.1f} %, folded {:.1f} %, int8 {:.1f} %".format(
            *accuracies
        ),
        file=sys.stderr,
    )
    layers = [*norms, "classifier.1"]
    # The first convolutions of the last three blocks but one, as Lin et al. choose for MCUNet.
    sparse = {layers[-14]: 0.25, layers[-11]: 0.5, layers[-8]: 0.5}
    return Network(made.graph, graph, weights, layers, sparse, 5)
