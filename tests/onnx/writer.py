"""Files that thimble writes, run by onnxruntime and read back: the recipes, and small graphs of every op."""
import pathlib
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnxruntime

import thimble as tb
from cases import Array

RTOL, ATOL = 1e-4, 1e-5
# Its outputs draw random numbers.
WITHOUT = {"unet_ddpm"}
RECIPES = ("vae", "lenet5", "mlp", "mobilenetv2", "resnet18", "lstm", "gpt", "unet_ddpm")
# Each on values between 0 and 1.
UNARY = (
    "abs acos asin asinh atan ceil cos cosh erf exp floor hard_swish mish neg relu round selu sigmoid sign sin sinh "
    "softsign tan tanh leaky_relu elu celu gelu hard_sigmoid softshrink hardshrink relu6 clip hard_tanh swish square "
    "log_sigmoid softplus stop_gradient softmax log_softmax argmax argmin cumsum flatten"
).split()
Build = Callable[[Any], Any]


def _image(x: Any) -> Any:
    return tb.relu(tb.conv2d(x, channels=4, kernel=3, padding="same"))


# Graphs of an image [6, 6, 4].
CASES: dict[str, Build] = {
    **{name: lambda x, name=name: getattr(tb, name)(x) for name in UNARY},
    **{f"{name} of positive numbers": lambda x, name=name: getattr(tb, name)(tb.square(x) + 0.5)
       for name in ("log", "sqrt", "rsqrt", "reciprocal", "acosh")},
    **{f"{name} over an axis": lambda x, name=name: getattr(tb, name)(_image(x), axes=2)
       for name in ("sum", "mean", "max", "min", "prod", "logsumexp")},
    "atanh": lambda x: tb.atanh(tb.sigmoid(x) * 0.5),
    "affine": lambda x: tb.affine(x, scale=2.0, shift=-1.0),
    "pow": lambda x: tb.pow(tb.square(x) + 0.1, exponent=1.5),
    "prelu": lambda x: tb.prelu(_image(x) - 0.5),
    "reductions keep the order": lambda x: tb.mean(_image(x), axes=[1, 2]) + tb.max(_image(x), axes=[1, 2]),
    "pairs": lambda x: tb.maximum(_image(x) - x, tb.minimum(x * 2.0, x / 3.0)),
    "a vector of channels": lambda x: _image(x) * x.graph.parameter("v", (4,)) + x.graph.parameter("w", (6, 1)),
    "comparisons": lambda x: tb.where(tb.logical_and(x > 0.0, tb.logical_not(x >= 1.0)), x, -x),
    "counts": lambda x: tb.sum(x > 0.0, axes=[1, 2]),
    "reversed axes": lambda x: tb.transpose(tb.transpose(_image(x))),
    "comparisons as numbers": lambda x: tb.cast(x < 0.5, "f32") + tb.cast(tb.ne(x, x), "f32"),
    "stride and groups": lambda x: tb.conv2d(x, channels=8, kernel=(3, 2), stride=(2, 1), padding=1, groups=2),
    "transposed convolution": lambda x: tb.conv_transpose2d(
        _image(x), channels=3, kernel=3, stride=2, padding=1, output_padding=1),
    "one axis": lambda x: tb.conv1d(tb.reshape(x, (-1, 36, 4)), channels=3, kernel=3, stride=2),
    "batch norm": lambda x: tb.batch_norm(_image(x)),
    "group norm": lambda x: tb.group_norm(_image(x), groups=2),
    "instance norm": lambda x: tb.instance_norm(_image(x), affine=True),
    "layer norm": lambda x: tb.layer_norm(x, dims=2),
    "rms norm": lambda x: tb.rms_norm(x),
    "local response norm": lambda x: tb.local_response_norm(x, size=3),
    "max pool": lambda x: tb.max_pool2d(_image(x), kernel=3, stride=2, padding=1, ceil_mode=True),
    "average pool": lambda x: tb.average_pool2d(x, kernel=3, stride=2, padding=1, count_include_pad=False),
    "global pools": lambda x: tb.global_average_pool2d(_image(x)) - tb.global_max_pool2d(x),
    "adaptive pool": lambda x: tb.adaptive_average_pool2d(x, size=2),
    "upsampling": lambda x: tb.upsample2d(x, scale=2.0) + tb.upsample2d(x, scale=2.0, mode="bilinear"),
    "cubic": lambda x: tb.upsample2d(x, size=(9, 7), mode="bicubic"),
    "dense": lambda x: tb.dense(tb.flatten(_image(x)), units=5),
    "products": lambda x: tb.matmul(x, x, transpose_b=True) @ tb.transpose(x, axes=[0, 2, 1, 3]),
    "attention": lambda x: tb.scaled_dot_product_attention(x, x[:, :5], x[:, :5], causal=True),
    "masked attention": lambda x: tb.scaled_dot_product_attention(
        x, x, x, np.tri(6, dtype=np.uint8)[None, None], scale=0.3),
    "multi-head attention": lambda x: tb.multi_head_attention(tb.reshape(x, (-1, 6, 24)), heads=3),
    "lstm": lambda x: tb.lstm(tb.reshape(x, (-1, 6, 24)), units=5, layers=2, bidirectional=True)[0],
    "lstm's states": lambda x: tb.concat(list(tb.lstm(tb.reshape(x, (-1, 6, 24)), units=5)[1:]), axis=-1),
    "gru": lambda x: tb.gru(tb.reshape(x, (-1, 6, 24)), units=5, bidirectional=True)[0],
    "rnn": lambda x: tb.rnn(tb.reshape(x, (-1, 6, 24)), units=5)[0],
    "concat and split": lambda x: tb.concat(tb.split(tb.concat([_image(x), x]), parts=2)[::-1], axis=2),
    "slices": lambda x: _image(x)[:, 1:5:2, :3, -2:],
    "flip": lambda x: tb.flip(x, axes=[1, -1]),
    "padding": lambda x: tb.pad(_image(x), before=[0, 1, 2, 0], after=[0, 0, 1, 1], value=0.5),
    "reflection": lambda x: tb.pad(x, before=[0, 1, 2, 0], after=[0, 0, 1, 0], mode="reflect"),
    "broadcast": lambda x: tb.broadcast_to(np.ones((1, 6, 1, 4), np.float32), (5, 6, 6, 4))[:1] * x,
    "gathering": lambda x: tb.index_select(x, np.array([2, 0], np.int32), axis=1) + tb.gather(
        x, tb.argmax(x, axis=1, keepdims=True), axis=1),
    "one hot": lambda x: tb.one_hot(tb.argmax(x), classes=4),
    "embedding": lambda x: tb.embedding(tb.argmax(x), embeddings=4, width=3),
    "pixel shuffle": lambda x: tb.pixel_shuffle(x, factor=2),
}


def _inputs(graph: tb.Graph, batch: int) -> dict[str, Array]:
    random = np.random.default_rng(3)
    made: dict[str, Array] = {}
    for name, (dtype, shape) in tb.Predictor(graph, weights=None)._core.inputs().items():
        whole = dtype.startswith(("i", "u"))
        size = (batch, *shape)
        made[name] = random.integers(0, 2, size).astype(np.int32) if whole else random.normal(size=size).astype("f4")
    return made


def _named(results: Any, graph: tb.Graph) -> dict[str, Array]:
    return results if isinstance(results, dict) else {"": results}


def _check(name: str, graph: tb.Graph, folder: pathlib.Path) -> None:
    """Raises AssertionError where results differ; any other error is one, too."""
    model, file = folder / "m.safetensors", folder / "m.onnx"
    tb.save_model(graph, model, seed=5)
    graph = tb.load_model(model)
    tb.export_onnx(graph, file)
    onnx.checker.check_model(str(file), full_check=True)
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    for batch in (1, 3):  # the batch is open
        given = _inputs(graph, batch)
        ours = list(_named(tb.Predictor(graph, batch=batch).predict(given), graph).values())
        again = list(_named(tb.Predictor(tb.import_onnx(file), batch=batch).predict(given), graph).values())
        for mine, theirs, back in zip(ours, session.run(None, given), again, strict=True):
            np.testing.assert_allclose(theirs.astype(np.float32), mine, RTOL, ATOL, err_msg="onnxruntime")
            np.testing.assert_allclose(back, mine, RTOL, ATOL, err_msg="read back")


def _one(build: Build) -> tb.Graph:
    graph = tb.Graph()
    y = build(graph.input("x", (6, 6, 4)))
    graph.output("y", y)
    return graph


def problems(only: list[str]) -> list[str]:
    """What differs, a line each."""
    found = []
    cases: dict[str, Callable[[], tb.Graph]] = {name: lambda b=build: _one(b) for name, build in CASES.items()}
    cases |= {name: lambda n=name: tb.recipes.recipe(n).graph for name in RECIPES}
    with tempfile.TemporaryDirectory() as folder:
        for name, make in cases.items():
            if only and not any(part in f"write {name}" for part in only):
                continue
            try:
                _check(name, make(), pathlib.Path(folder))
                if name in WITHOUT:
                    found.append(f"write {name}: expected a refusal")
            except Exception as error:
                if name in WITHOUT and "random numbers" in str(error):
                    continue
                found.append(f"write {name}: {type(error).__name__}: {' '.join(str(error).split())[:240]}")
    return found


def count() -> int:
    return len(CASES) + len(RECIPES)
