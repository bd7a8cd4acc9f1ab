"""Functions of ops and layers: on arrays, on values, their help."""

import ast
import inspect
import pathlib
import re

import numpy as np
import pytest

import thimble as tb
from thimble import _core


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


X = np.random.default_rng(1).normal(size=(4, 5)).astype(np.float32)
Y = np.random.default_rng(2).normal(size=(4, 5)).astype(np.float32)

AS_NUMPY = [
    ("abs", lambda: tb.abs(X), np.abs(X)),
    ("add", lambda: tb.add(X, Y[0]), X + Y[0]),
    ("add a number", lambda: tb.add(X, 2), X + 2),
    ("sub", lambda: tb.sub(X, Y), X - Y),
    ("mul", lambda: tb.mul(X, Y), X * Y),
    ("div", lambda: tb.div(X, Y), X / Y),
    ("exp", lambda: tb.exp(X), np.exp(X)),
    ("tanh", lambda: tb.tanh(X), np.tanh(X)),
    ("sigmoid", lambda: tb.sigmoid(X), sigmoid(X)),
    ("relu", lambda: tb.relu(X), np.maximum(X, 0)),
    ("leaky_relu", lambda: tb.leaky_relu(X, slope=0.3), np.where(X > 0, X, 0.3 * X)),
    ("pow", lambda: tb.pow(X, 3.0), X**3),
    ("clip", lambda: tb.clip(X, -0.5, 0.5), np.clip(X, -0.5, 0.5)),
    ("sum", lambda: tb.sum(X), X.sum()),
    ("sum of an axis", lambda: tb.sum(X, axes=1, keepdims=True), X.sum(1, keepdims=True)),
    ("mean", lambda: tb.mean(X, axes=(0, 1)), X.mean()),
    ("max", lambda: tb.max(X, axes=-1), X.max(-1)),
    ("argmax", lambda: tb.argmax(X), X.argmax(-1)),
    ("matmul", lambda: tb.matmul(X, Y, transpose_b=True), X @ Y.T),
    ("reshape", lambda: tb.reshape(X, (2, -1)), X.reshape(2, -1)),
    ("transpose", lambda: tb.transpose(X, (1, 0)), X.T),
    ("matmul of vectors", lambda: tb.matmul(X[0], Y[0]), X[0] @ Y[0]),
    ("matmul of batches", lambda: tb.matmul(X[:, None, None], Y.T), (X[:, None, None] @ Y.T)),
    ("slice backwards", lambda: tb.slice(X, axes=1, starts=3, stops=0, steps=-2), X[:, 3:0:-2]),
    ("pad", lambda: tb.pad(X, (0, 2), (1, 0), mode="reflect"), np.pad(X, ((0, 1), (2, 0)), "reflect")),
    ("sin", lambda: tb.sin(X), np.sin(X)),
    ("variance", lambda: tb.variance(X, axes=0), X.var(0, ddof=1)),
    ("norm", lambda: tb.norm(X, axes=1, p=np.inf), np.abs(X).max(1)),
    ("argmin of all", lambda: tb.argmin(X, flat=True), X.argmin()),
    ("mse of each", lambda: tb.mse(X, Y, reduction="none"), (X - Y) ** 2),
    ("concat", lambda: tb.concat([X, Y], axis=0), np.concatenate([X, Y])),
    ("flatten", lambda: tb.flatten(X[None]), X.reshape(1, -1)),
    ("cast", lambda: tb.cast(X, "int32"), X.astype(np.int32)),
    ("dense of weights", lambda: tb.dense(X, Y, np.ones(4)), X @ Y.T + 1),
]


@pytest.mark.parametrize("name,call,expected", AS_NUMPY, ids=[row[0] for row in AS_NUMPY])
def test_computes_at_once_on_arrays(name, call, expected):
    got = call()
    assert isinstance(got, np.ndarray)
    assert got.shape == np.shape(expected)
    np.testing.assert_allclose(got, expected, rtol=2e-6, atol=2e-6)


def test_takes_one_sample_in_place_of_a_batch():
    image = np.random.default_rng(3).normal(size=(6, 5, 3)).astype(np.float32)
    weight = np.random.default_rng(4).normal(size=(2, 3, 3, 3)).astype(np.float32)
    np.testing.assert_array_equal(tb.conv2d(image, weight), tb.conv2d(image[None], weight)[0])
    values, places = tb.max_pool2d_with_indices(image, kernel=2)
    assert values.shape == places.shape == (3, 2, 3)
    np.testing.assert_array_equal(values, tb.max_pool2d(image))
    with pytest.raises(ValueError, match="images"):
        tb.conv2d(image[0], weight)


def test_every_batch_of_images_or_sequences_says_its_rank():
    """Documentation that shows a batch, and the rank that calls go by, agree."""
    for name, parts in _core.reflect().items():
        for part in parts.values():
            shown = [
                re.match(r"\[N(, [^,.\]]+)*\]", each["doc"])
                for each in [*part["inputs"], *part["outputs"]]
            ]
            ranks = [found[0].count(",") + 1 if found else 0 for found in shown]
            if not part["inputs"] or ranks[0] < 3:
                ranks = [0] * len(ranks)
            given = [each["batch_rank"] for each in [*part["inputs"], *part["outputs"]]]
            assert given == ranks, name


def test_returns_lists_where_an_op_has_many_outputs():
    parts = tb.split(X, sizes=(2, 3), axis=1)
    assert [part.shape for part in parts] == [(4, 2), (4, 3)]
    np.testing.assert_array_equal(np.concatenate(parts, 1), X)


def test_accepts_every_element_type_that_has_a_meaning():
    np.testing.assert_array_equal(tb.relu(X.astype(np.float64)), tb.relu(X))
    logits = np.eye(3)
    for dtype in (np.int32, np.int64, np.uint16):
        assert tb.accuracy(logits, np.array([0, 1, 0], dtype)) == np.float32(2 / 3)
    with pytest.raises(ValueError, match="outside of int32"):
        tb.accuracy(logits, np.array([0, 1, 2**40]))
    with pytest.raises(ValueError, match="complex128"):
        tb.relu(np.zeros(2, complex))


def test_reads_arrays_that_are_not_contiguous_or_have_no_dimensions():
    np.testing.assert_array_equal(tb.relu(X[::2, ::-1]), np.maximum(X[::2, ::-1], 0))
    assert tb.relu(np.float32(-2)).shape == ()
    assert tb.relu(np.zeros((0, 3))).shape == (0, 3)


def test_draws_random_numbers_by_the_seed():
    x = np.ones((64, 64))
    tb.seed(5)
    first, second = tb.dropout(x, p=0.25), tb.dropout(x, p=0.25)
    tb.seed(5)
    np.testing.assert_array_equal(tb.dropout(x, p=0.25), first)
    assert (first != second).any()
    assert abs((first == 0).mean() - 0.25) < 0.05
    assert set(np.unique(first)) == {np.float32(0), np.float32(4 / 3)}


def conv2d_of(x, w, b, stride, padding):
    """[N, H, W, C] by [K, kh, kw, C], pixel by pixel."""
    x = np.pad(x, ((0, 0), (padding, padding), (padding, padding), (0, 0)))
    n, h, width, _ = x.shape
    k, kh, kw, _ = w.shape
    y = np.zeros((n, (h - kh) // stride + 1, (width - kw) // stride + 1, k))
    for p in range(y.shape[1]):
        for q in range(y.shape[2]):
            window = x[:, p * stride : p * stride + kh, q * stride : q * stride + kw]
            y[:, p, q] = np.tensordot(window, w, ((1, 2, 3), (1, 2, 3))) + b
    return y


def test_a_layer_and_its_function_of_weights_agree(rng):
    x = rng.normal(size=(3, 8, 8, 2)).astype(np.float32)
    g = tb.Graph()
    image = g.input("image", (8, 8, 2))
    y = tb.conv2d(image, channels=5, kernel=3, stride=2, padding=1, name="enc1")
    g.output("y", y)
    g.minimize(tb.mean(y))
    trainer = tb.Trainer(g, batch=3)
    w, b = trainer.parameters["enc1.weight"], trainer.parameters["enc1.bias"]
    assert w.shape == (5, 3, 3, 2)
    functional = tb.conv2d(x, w, b, stride=2, padding=1)
    np.testing.assert_array_equal(trainer.predict({"image": x}), functional)
    np.testing.assert_allclose(functional, conv2d_of(x, w, b, 2, 1), rtol=1e-4, atol=1e-5)
    without_bias = tb.conv2d(x, w, stride=2, padding=1)
    np.testing.assert_allclose(without_bias + b, functional, rtol=1e-5, atol=1e-6)


def test_a_layer_can_do_without_its_bias():
    g = tb.Graph()
    tb.conv2d(g.input("x", (8, 8, 2)), channels=5, kernel=3, bias=False, name="c")
    assert "c.weight" in g.text() and "c.bias" not in g.text()


def test_options_of_layers_do_not_go_with_weights():
    x, w = np.zeros((1, 4, 4, 1)), np.zeros((2, 3, 3, 1))
    with pytest.raises(ValueError, match=r"\[conv2d\] channels belongs to the layer"):
        tb.conv2d(x, w, channels=2)
    with pytest.raises(ValueError, match=r"\[conv2d\] weight is missing"):
        tb.conv2d(x, bias=np.zeros(2))
    g = tb.Graph()
    with pytest.raises(ValueError, match="activation is not an option of the layer"):
        tb.conv2d(g.input("x", (8, 8, 2)), channels=5, activation="relu")


def test_a_layer_on_arrays_asks_for_weights():
    missing = r"^\[dense\] arrays are missing for dense_1.weight f32\[4, 3\], dense_1.bias f32\[4\]; "
    ways = r"with thimble.functional_call\(thimble.dense, .* or as the arguments weight, bias$"
    with pytest.raises(ValueError, match=missing + "give them " + ways):
        tb.dense(np.zeros((2, 3)), units=4)
    with pytest.raises(ValueError, match=r"give them with [^ ]*functional_call\(.*x, ...\)$"):
        tb.lstm(np.zeros((2, 5, 3)), units=4)
    with pytest.raises(ValueError, match=r"give them as the arguments gamma, beta, "):
        tb.batch_norm(np.zeros((2, 3)))


def test_layers_say_how_they_are_called_on_arrays():
    layers = [n for n in tb.ops.__all__ if "it is a layer" in getattr(tb, n).__doc__]
    assert {"lstm", "gru_cell", "conv2d", "multi_head_attention"} < set(layers)
    for name in layers:
        text = re.sub(r"\s+", " ", getattr(tb, name).__doc__)
        shown = re.search(rf"tb\.functional_call\(tb\.{name}, \{{\"l\..*?name=\"l\"\)", text)
        assert (shown is None) == ("running_mean" in text), name
        if shown is not None:
            ast.parse(shown[0].replace("..., ...}", "...}"))


def test_batch_norm_of_given_weights_normalises_the_batch(rng):
    x = rng.normal(3, 2, (64, 5)).astype(np.float32)
    one, zero = np.ones(5), np.zeros(5)
    y = tb.batch_norm(x, one, zero, zero, one)
    np.testing.assert_allclose(y.mean(0), 0, atol=1e-5)
    np.testing.assert_allclose(y.std(0), 1, atol=1e-3)


def test_functions_kept_are_bounded_in_number_and_memory(monkeypatch):
    from thimble import _calls, _compiled

    for size in range(1, 300):
        tb.relu(np.ones(size))
    assert len(_calls._eager) <= 256
    monkeypatch.setattr(_compiled, "_LIMIT_BYTES", 1 << 20)
    for size in range(10):
        np.testing.assert_array_equal(tb.relu(np.ones((512, 256 + size))), 1)
    assert _calls._eager.bytes() <= 2 << 20


def test_indices_may_be_whole_numbers_of_numpys_own_type():
    index, source = np.array([0, 2, 2]), np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(tb.scatter_add(np.ones(4), index, source), [2, 1, 6, 1])


BAD = [
    (lambda: tb.add(np.zeros(3), np.zeros(4)), r"\[add\] expected shapes that broadcast"),
    (lambda: tb.softmax(X, axis="last"), r"\[softmax\] axis must be a whole number, got 'last'"),
    (lambda: tb.leaky_relu(X, slope="steep"), r"\[leaky_relu\] slope must be a number"),
    (lambda: tb.reshape(X, (3, 3)), r"\[reshape\]"),
    (lambda: tb.cast(X, "float8"), 'there is no element type "float8"; known: "i4", "float32"'),
    (lambda: tb.max_pool2d(X[None, ..., None], kernel=(1, 2, 3)), "kernel must be a whole number"),
    (lambda: tb.mse(X, Y, reduction="median"), 'reduction must be one of "mean", "sum"'),
    (lambda: tb.relu(None), r"\[relu\] the first input is missing"),
    (lambda: tb.mse(X, None), r"\[mse\] the input target is missing"),
]


@pytest.mark.parametrize("call,message", BAD, ids=[row[1][:30] for row in BAD])
def test_bad_arguments_are_value_errors_with_the_librarys_words(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_mistakes_with_arrays_are_type_errors():
    with pytest.raises(TypeError, match=r"\[concat\] expected a list of tensors: concat\(\[a, b\]\)"):
        tb.concat(X, Y)
    value = tb.Graph().input("x", (3,))
    with pytest.raises(TypeError, match="a Value holds no numbers"):
        np.asarray(value)
    with pytest.raises(TypeError, match="a Value holds no numbers"):
        np.concatenate([value, value])
    assert (2 * value).shape == (np.ones(3) + value).shape == (-1, 3)
    with pytest.raises(TypeError, match="a layer or function and a dictionary"):
        tb.functional_call(tb.dense, [np.ones((2, 3))], X)


def test_values_of_two_graphs_do_not_mix():
    a, b = tb.Graph(), tb.Graph()
    with pytest.raises(ValueError, match="different graphs"):
        tb.add(a.input("x", (3,)), b.input("x", (3,)))


@pytest.mark.parametrize("name", tb.ops.__all__)
def test_every_function_explains_itself(name):
    function = getattr(tb, name)
    parameters = inspect.signature(function).parameters
    text = function.__doc__
    assert text and "Args:" in text and "Returns:" in text
    for parameter in parameters.values():
        assert parameter.annotation is not inspect.Parameter.empty
        assert f"        {parameter.name}: " in text, f"{parameter.name} is not explained"


def test_examples_are_calls_that_bind():
    """The text under Example is Python, and its arguments are the function's."""
    for name in tb.ops.__all__:
        match = re.search(r"Example:\n +(.*)", getattr(tb, name).__doc__)
        assert match is not None, name
        for node in ast.walk(ast.parse(match[1])):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                if getattr(node.func.value, "id", None) == "tb":
                    signature = inspect.signature(getattr(tb, node.func.attr))
                    signature.bind(*node.args, **{k.arg: k.value for k in node.keywords})
    assert "y = tb.conv2d(x, channels=8, kernel=3, stride=2, padding=1)" in tb.conv2d.__doc__


# The inputs of examples by common names, and then by the rank of a batch: shapes of samples, and whether of i32.
ROW = (32,)
SHAPES = {
    "images": (28, 28, 1), "logits": (10,), "tokens": (32,), "q": (8, 6, 32), "k": (8, 6, 32),
    "v": (8, 6, 32), "targets": (4,), "distance": (), "alike": (), "query": (8, 32), "key": (8, 32),
    "value": (8, 32), "embedded": (32, 32), "h": (64,), "c": (64,), "bytes": (4,), "queries": (64, 192),
    "states": (32, 32), "patches": (16, 64), "grid": (14, 14, 2),
    **dict.fromkeys(["label", "digit", "lengths", "input_lengths", "target_lengths"], ()),
}  # fmt: skip
WHOLE = {"label", "digit", "tokens", "index", "input_lengths", "target_lengths", "targets", "bytes", "lengths"}
SPECS = _core.reflect()
RANKS = {3: (32, 32), 4: (28, 28, 16), 5: (8, 8, 8, 4)}


def examples_of_folders():
    """The inputs of examples in the golden.py of ops, named EXAMPLES there."""
    found = {}
    for path in (pathlib.Path(__file__).parents[2] / "src/ops").glob("*/golden.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "EXAMPLES":
                found |= ast.literal_eval(node.value)
    return found


INT8_ROW, INT8_IMAGES = {"shape": ROW, "dtype": "i8"}, {"shape": (28, 28, 16), "dtype": "i8"}


def int8_layer(x, weight):
    return {"x": x, "weight": {"shape": weight, "dtype": "i8", "batch": False},
            "bias": {"shape": (8,), "dtype": "i32", "batch": False}}  # fmt: skip


EXAMPLES = {
    "mask_sequence": {"x": (32, 32)}, "reverse_sequence": {"x": (32, 32)},
    "dequantize": {"x": INT8_ROW}, "requantize": {"x": INT8_ROW},
    "quantized_add": {"a": INT8_ROW, "b": INT8_ROW}, "quantized_mul": {"a": INT8_ROW, "b": INT8_ROW},
    "quantized_sub": {"a": INT8_ROW, "b": INT8_ROW},
    "quantized_sigmoid": {"x": INT8_ROW}, "quantized_tanh": {"x": INT8_ROW},
    "quantized_average_pool2d": {"x": INT8_IMAGES}, "quantized_mean": {"x": INT8_IMAGES},
    "quantized_global_average_pool2d": {"images": INT8_IMAGES},
    "quantized_conv2d": int8_layer(INT8_IMAGES, (8, 3, 3, 16)),
    "quantized_conv_transpose2d": int8_layer(INT8_IMAGES, (16, 3, 3, 8)),
    "frozen_dense": {"weight": {"shape": (8, 32), "dtype": "bf16", "batch": False}},
    "quantized_dense": int8_layer(INT8_ROW, (8, 32)), **examples_of_folders(),
}  # fmt: skip


def example_input(g, function, name):
    """The value that the example of a function calls by this name."""
    parts = SPECS[function.rstrip("_")].values()
    ranks = {each["name"]: each["batch_rank"] for part in parts for each in part["inputs"]}
    common = {"shape": SHAPES.get(name, RANKS.get(ranks.get(name), ROW)),
              "dtype": "i32" if name in WHOLE else "f32"}  # fmt: skip
    own = EXAMPLES.get(function, {}).get(name, common)
    given = {"dtype": "f32", "batch": True, **(own if isinstance(own, dict) else {"shape": own})}
    scale = tb.Quantization([0.1]) if given["dtype"] == "i8" else None
    add = g.input if given["batch"] else g.parameter
    return add(name, given["shape"], dtype=given["dtype"], quantization=scale)


@pytest.mark.parametrize("name", tb.ops.__all__)
def test_examples_run(name):
    """Runs the text under Example on values of suitable shapes."""
    code = re.search(r"Example:\n((?: {8}.*\n)+)", getattr(tb, name).__doc__)[1]
    tree = ast.parse(re.sub(r"^ {8}", "", code, flags=re.M))
    g = tb.Graph()
    names = {"tb": tb, "g": g, "units": 8}
    assigned = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id not in {*names, *assigned}:
            names[node.id] = example_input(g, name, node.id)
    exec(compile(tree, name, "exec"), names)


def test_einsum_takes_the_equation_in_pytorchs_place():
    expected = np.einsum("ab,cb->ac", X, Y)
    for got in (tb.einsum("ab,cb->ac", X, Y), tb.einsum("ab,cb->ac", [X, Y]),
                tb.einsum(X, Y, equation="ab,cb->ac")):  # fmt: skip
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)
    value = tb.Graph().input("x", (3,))
    assert tb.einsum("ab,cb->ac", value, np.ones((2, 3))).shape == (-1, 2)
    for call in (lambda: tb.einsum(X, Y), lambda: tb.einsum("ab"), lambda: tb.einsum("a", *[X] * 5)):
        with pytest.raises(ValueError, match=r"^\[einsum\] "):
            call()


def test_split_takes_a_number_of_parts_or_one_size():
    torch = pytest.importorskip("torch")
    for number in (1, 2, 3, 4, 9):
        theirs = torch.chunk(torch.from_numpy(X), number, 1)
        ours = tb.split(X, axis=1, parts=number)
        assert [p.shape for p in ours] == [tuple(p.shape) for p in theirs]
        theirs = torch.split(torch.from_numpy(X), number, 1)
        ours = tb.split(X, axis=1, sizes=number)
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(a, b)
    with pytest.raises(ValueError, match=r"their number, split\(x, axis=1, parts=2\); got axis=2"):
        tb.split(X, 2)
    with pytest.raises(ValueError, match="parts must be 1 or more, got 0"):
        tb.split(X, parts=0)
    with pytest.raises(ValueError, match="open batch"):
        tb.split(tb.Graph().input("x", (3,)), axis=0, parts=2)


def test_topk_has_pytorchs_names():
    best = tb.topk(X, 2)
    values, indices = best
    np.testing.assert_array_equal(best.values, values)
    np.testing.assert_array_equal(best.indices, indices)
    np.testing.assert_array_equal(tb.jit(lambda x: tb.topk(x, 2))(X).indices, indices)
    np.testing.assert_array_equal(best.indices, np.argsort(-X, axis=1)[:, :2])


@pytest.mark.parametrize("given", ["a", np.array(["a"]), object(), np.array([None]), [[1], [1, 2]],
                                   np.zeros(2, complex)], ids=range(6))  # fmt: skip
def test_what_is_no_number_names_the_argument(given):
    with pytest.raises(ValueError, match=r"^\[mse\] target must be a Value, an array of numbers or"):
        tb.mse(X, given)
    with pytest.raises(ValueError, match=r"^\[mse\] target must be a Value, an array of numbers or"):
        tb.mse(tb.Graph().input("x", (3,)), given)


def test_help_says_what_padding_takes():
    text = re.sub(r"\s+", " ", tb.conv2d.__doc__)
    assert '(top, bottom, left, right), or "same")' in text
    assert "place r * kw" not in tb.max_pool2d.__doc__
    parameters = inspect.signature(tb.depthwise_conv2d).parameters
    assert "groups" not in parameters and "0: C" in tb.depthwise_conv2d.__doc__
    for alias in ("Tensor", "Other", "Pair", "Padding", "Ints"):
        assert re.search(rf"\b{alias}\s", tb.ops.__doc__)


def test_depthwise_is_a_convolution_of_as_many_groups(rng):
    x, w = rng.normal(size=(1, 6, 6, 3)), rng.normal(size=(6, 3, 3, 1))
    ours = tb.conv2d(x, w, groups=3)
    weights = {"d.weight": w}
    same = tb.functional_call(
        tb.depthwise_conv2d, weights, x, channels=6, kernel=3, bias=False, name="d")
    np.testing.assert_array_equal(ours, same)
    np.testing.assert_array_equal(ours, tb.depthwise_conv2d(x, w))
    with pytest.raises(TypeError, match="groups"):
        tb.depthwise_conv2d(x, groups=3)


def test_layers_that_keep_something_say_how_they_are_used():
    with pytest.raises(ValueError, match="alone: describe it in a Graph and train that"):
        tb.nearest_centroid(X, np.arange(4), classes=4)
    weights = {"n.weight": np.ones(5), "n.bias": np.zeros(5)}
    with pytest.raises(ValueError, match=r"call the norm itself .* tb.batch_norm\(x, gamma, beta"):
        tb.functional_call(tb.batch_norm, weights, X, name="n")


def test_importing_everything_leaves_pythons_own_functions_alone():
    names = {}
    exec("from thimble import *", names)
    assert names["relu"] is tb.relu and names["AdamW"] is tb.AdamW
    assert "sum" not in names and tb.sum(X) == pytest.approx(X.sum(), rel=1e-5)


def test_gradients_and_updates_are_not_offered():
    offered = set(tb.ops.__all__)
    assert {"relu", "conv2d", "dense", "softmax_cross_entropy", "max_pool2d"} <= offered
    assert not [name for name in offered if name.endswith(("_grad", "_update"))]


@pytest.mark.parametrize("name", tb.optimizers.__all__)
def test_every_optimizer_explains_itself_and_trains(name):
    optimizer = getattr(tb, name)
    for parameter in inspect.signature(optimizer).parameters:
        assert f"        {parameter}: " in optimizer.__doc__
    g = tb.Graph()
    x = g.input("x", (3,))
    g.minimize(tb.mean(tb.square(tb.dense(x, units=4, name="d"))))
    trainer = tb.Trainer(g, optimizer=optimizer(), batch=4)
    before = trainer.state_dict()["d.weight"]
    trainer.fit((np.ones((8, 3)),))
    assert (trainer.parameters["d.weight"] != before).any()


@pytest.mark.parametrize(
    "call, option",
    [(lambda: tb.dense(X, np.ones((3, 5)), units=99), "units"),
     (lambda: tb.conv3d(np.ones((1, 4, 4, 4, 1)), np.ones((2, 3, 3, 3, 1)), channels=7), "channels"),
     (lambda: tb.conv1d(np.ones((1, 4, 1)), np.ones((2, 3, 1)), kernel=5), "kernel"),
     (lambda: tb.dense(X, np.ones((3, 5)), weight_init=tb.init.zeros()), "weight_init"),
     (lambda: tb.multi_head_attention(np.ones((1, 2, 4)), in_proj_weight=np.ones((12, 4)),
                                      out_proj_weight=np.ones((4, 4)), heads=2, add_bias_kv=True),
      "add_bias_kv")],
    ids=lambda x: x if isinstance(x, str) else "",
)  # fmt: skip
def test_options_of_a_layer_are_refused_beside_given_weights(call, option):
    with pytest.raises(ValueError, match=option):
        call()
    assert tb.dense(X, np.ones((3, 5)), bias=False).shape == (4, 3)
