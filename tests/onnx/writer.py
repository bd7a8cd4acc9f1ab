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
RECIPES = ("vae", "lenet5", "mlp", "mobilenetv2", "resnet18", "lstm", "gpt", "unet_ddpm")
# Each on values between 0 and 1.
UNARY = (
    "abs acos asin asinh atan ceil cos cosh erf exp floor hard_swish mish neg relu round selu sigmoid sign sin sinh "
    "softsign tan tanh leaky_relu elu celu gelu hard_sigmoid softshrink hardshrink relu6 clip hard_tanh swish square "
    "log_sigmoid softplus stop_gradient softmax log_softmax argmax argmin cumsum flatten erfc exp2 expm1 trunc frac "
    "threshold normalize"
).split()
Build = Callable[[Any], Any]


def _image(x: Any) -> Any:
    return tb.relu(tb.conv2d(x, channels=4, kernel=3, padding="same"))


# Graphs of an image [6, 6, 4].
CASES: dict[str, Build] = {
    **{name: lambda x, name=name: getattr(tb, name)(x) for name in UNARY},
    **{f"{name} of positive numbers": lambda x, name=name: getattr(tb, name)(tb.square(x) + 0.5)
       for name in ("log", "sqrt", "rsqrt", "reciprocal", "acosh", "log2", "log10", "log1p")},
    **{f"{name} over an axis": lambda x, name=name: getattr(tb, name)(_image(x), axes=2)
       for name in ("sum", "mean", "max", "min", "prod", "logsumexp")},
    **{f"{name} over two axes": lambda x, name=name: getattr(tb, name)(_image(x), axes=[1, 3])
       for name in ("norm", "variance", "standard_deviation")},
    **{f"{name} of sequences": lambda x, name=name: getattr(tb, name)(
        tb.reshape(x, (-1, 36, 4)), tb.sum(tb.cast(x > 1.0, "i32"), axes=[1, 2, 3]))
       for name in ("mask_sequence", "reverse_sequence", "last_of_sequence")},
    "logit": lambda x: tb.logit(tb.sigmoid(x)) + tb.logit(x, eps=0.1),
    "remainders": lambda x: tb.remainder(_image(x) * 3.0, x + 3.5) + tb.fmod(x * 3.0, _image(x) + 3.5),
    "clamp": lambda x: tb.clamp(x, -0.5 * _image(x), _image(x)) + tb.clamp(x, None, x * 0.0),
    "triangles": lambda x: tb.tril(_image(x)) + tb.triu(x, diagonal=1),
    "roll": lambda x: x + tb.roll(x.graph.parameter("r", (6, 4)), shifts=[5]),
    "roll of axes": lambda x: tb.roll(_image(x), shifts=[2, -1], axes=[1, 2]),
    "the largest": lambda x: (lambda y, i: y * tb.cast(i, "f32"))(*tb.topk(_image(x), k=3, axis=2)),
    "scattering": lambda x: tb.scatter(x, tb.argmax(x, axis=1, keepdims=True), axis=1, value=7.0) + tb.scatter_add(
        x, tb.argmax(x, axis=1, keepdims=True), x[:, :1], axis=1),
    "grid sample": lambda x: tb.grid_sample(_image(x), tb.tanh(x[..., :2]) * 1.2, padding="border"),
    "adaptive max pool": lambda x: tb.adaptive_max_pool2d(_image(x), size=(2, 3)),
    "norms beside draws": lambda x: tb.rms_norm(x) + tb.random_uniform(x, low=0.0, high=1e-9),
    "attention beside draws": lambda x: tb.scaled_dot_product_attention(
        x, x, x, np.tri(6, dtype=np.uint8)[None, None], scale=0.3) + tb.random_normal(x, stddev=0.0),
    "rotary embedding": lambda x: tb.scaled_dot_product_attention(
        tb.rotary_embedding(x), tb.rotary_embedding(x), x, causal=True),
    "rotary embedding of neighbours": lambda x: tb.rotary_embedding(x, interleaved=True, width=2),
    "frozen weights": lambda x: tb.frozen_dense(x, np.arange(-6, 6, dtype=np.int8).reshape(3, 4),
                                                np.array([[0.5, 0.25], [1, 2], [0.1, 0.3]], np.float32)),
    "rounded to steps": lambda x: tb.fake_quantize(x, np.array([0.02], np.float32), zero_point=5)
    + tb.fake_quantize(_image(x), np.array([0.01, 0.02, 0.03, 0.04], np.float32), low=-127, axis=-1)
    + tb.fake_quantize(x, np.array([0.1], np.float32), low=-8, high=200, parts=3),
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


class _Drawn:
    """What the U-net draws in thimble, computed from its outputs."""

    def __init__(self, image: Array, noisy: Array, time: Array, told: Array) -> None:
        left = np.cumprod(1.0 - np.linspace(1e-4, 0.02, 1000))[time.astype(int)].reshape(-1, 1, 1, 1)
        x = np.pad(2.0 * image - 1.0, ((0, 0), (2, 2), (2, 2), (0, 0)), constant_values=-1.0)
        noise = (noisy - np.sqrt(left) * x) / np.sqrt(1.0 - left)
        self.values = {"RandomUniformLike": [time + 0.5, told + 0.5], "RandomNormalLike": [noise]}

    def given_to(self, model: onnx.ModelProto) -> dict[str, Array]:
        """Makes inputs of the model's draws."""
        given = {}
        for node in [node for node in model.graph.node if node.op_type in self.values]:
            drawn = self.values[node.op_type].pop(0).astype("f4")
            model.graph.node.remove(node)
            name, sizes = node.output[0], ["batch", *drawn.shape[1:]]
            model.graph.input.append(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, sizes))
            given[name] = drawn
        return given


def _check_draws(graph: tb.Graph, folder: pathlib.Path) -> None:
    """The U-net's outputs draw random numbers: onnxruntime has thimble's, and both draw their own."""
    model, file = folder / "m.safetensors", folder / "m.onnx"
    tb.save_model(graph, model, seed=5)
    graph = tb.load_model(model)
    tb.export_onnx(graph, file)
    onnx.checker.check_model(str(file), full_check=True)
    given = _inputs(graph, 3)
    ours = tb.Predictor(graph, batch=3).predict(given)
    written = onnx.load(file)
    session = onnxruntime.InferenceSession(written.SerializeToString(), providers=["CPUExecutionProvider"])
    assert not np.array_equal(session.run(["noisy"], given)[0], session.run(["noisy"], given)[0])
    drawn = _Drawn(given["image"], ours["noisy"], ours["time"], ours["told"])
    given |= drawn.given_to(written)
    onnx.save(written, file)
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    back = tb.Predictor(tb.import_onnx(file), batch=3).predict(given)
    for name, theirs in zip(ours, session.run(list(ours), given), strict=True):
        np.testing.assert_allclose(theirs, ours[name], RTOL, 1e-4, err_msg="onnxruntime")
        np.testing.assert_allclose(back[name], ours[name], RTOL, 1e-4, err_msg="read back")


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
                if name == "unet_ddpm":
                    _check_draws(make(), pathlib.Path(folder))
                    continue
                _check(name, make(), pathlib.Path(folder))
            except Exception as error:
                found.append(f"write {name}: {type(error).__name__}: {' '.join(str(error).split())[:240]}")
    return found


def count() -> int:
    return len(CASES) + len(RECIPES)
