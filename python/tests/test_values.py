"""Values of a graph: operators and indexing as on NumPy arrays."""

import gc

import numpy as np
import pytest

import thimble as tb

A = np.random.default_rng(3).normal(size=(4, 6)).astype(np.float32)
B = np.random.default_rng(4).uniform(1, 2, size=(4, 6)).astype(np.float32)

EXPRESSIONS = [
    "a + b", "a - b", "a * b", "a / b", "a + 1", "1 - a", "2.0 * a", "1 / b", "-a", "b ** 0.5",
    "a @ c", "b ** d", "2.0 ** a", "b ** a", "a / 4", "1.0 / b - 3", "(a + b) * (a - b)",
    "a + d", "d * a", "d / b",
]  # fmt: skip


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_operators_are_numpys(text):
    c = np.ones((6, 2), np.float32)
    d = np.arange(6, dtype=np.float32)
    expected = eval(text, {"a": A, "b": B, "c": c, "d": d})
    got = tb.jit(lambda a, b: eval(text, {"a": a, "b": b, "c": c, "d": d}))(A, B)
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


def test_comparisons_choose():
    expected = np.where((A > 0) & (A <= 1), A, 7)

    def f(a):
        return tb.where(a > 0, tb.where(a <= 1.0, a, 7.0), 7.0)

    np.testing.assert_array_equal(tb.jit(f)(A), expected)
    mask = A < B
    for condition in (mask, mask.astype(np.uint8)):
        np.testing.assert_array_equal(tb.where(condition, A, B), np.minimum(A, B))
        got = tb.jit(lambda a, c=condition: tb.where(c, a, B))(A)
        np.testing.assert_array_equal(got, np.minimum(A, B))
    np.testing.assert_array_equal(tb.jit(lambda a, b: a >= b)(A, B), A >= B)
    np.testing.assert_array_equal(tb.jit(lambda a: 0 < a)(A), A > 0)
    with pytest.raises(TypeError, match="no truth"):
        tb.jit(lambda a: a if a > 0 else -a)(A)


KEYS = [
    np.s_[1], np.s_[-1], np.s_[1:3], np.s_[:, 2], np.s_[..., 0], np.s_[::2, 1:5:3], np.s_[:],
    np.s_[None, 1], np.s_[1, ..., None], np.s_[2, 3], np.s_[3:99], np.s_[-3:-1, -2],
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_indexing_is_numpys(key):
    np.testing.assert_array_equal(tb.jit(lambda a: a[key])(A), A[key])


C = np.random.default_rng(5).normal(size=(3, 4, 5)).astype(np.float32)
ARRAY_KEYS = [
    np.s_[[0, 2]], np.s_[[]], np.s_[:, [1, -1]], np.s_[[0, 1], [2, 3]], np.s_[[[0], [1]], :, [2, 3]],
    np.s_[1, [0, 2]], np.s_[..., np.array([[4, 0]])], np.s_[[2, 2], None, 1:3], np.s_[C > 0],
    np.s_[:, np.array([True, False, True, True])], np.s_[0, :, [1, 2]],
]  # fmt: skip


@pytest.mark.parametrize("key", ARRAY_KEYS, ids=str)
def test_arrays_of_indices_are_numpys(key):
    np.testing.assert_array_equal(tb.jit(lambda a: a[key])(C), C[key])


def test_values_are_indices():
    rows, columns = np.array([0, -1, 2], np.int32), np.array([3, 1, -4], np.int32)
    got = tb.jit(lambda a, i, j: (a[i], a[:, j], a[i, j], a[i, [1, 0, 1]]))(C, rows, columns)
    for array, key in zip(got, [np.s_[rows], np.s_[:, columns], np.s_[rows, columns],
                                np.s_[rows, [1, 0, 1]]]):  # fmt: skip
        np.testing.assert_array_equal(array, C[key])
    _, gradient = tb.value_and_grad(lambda a, i: tb.sum(a[i]))(C, np.array([1, 1, 0], np.int32))
    np.testing.assert_array_equal(gradient[:, 0, 0], [1, 2, 0])
    with pytest.raises(IndexError, match="use where"):
        tb.jit(lambda a: a[a > 0])(C)


@pytest.mark.parametrize("key", [np.s_[[3]], np.s_[[0.5]], np.s_[[0], [0], [0], [0]]], ids=str)
def test_bad_arrays_of_indices_are_index_errors(key):
    with pytest.raises(IndexError):
        tb.jit(lambda a: a[key])(C)


@pytest.mark.parametrize("key", [np.s_[4], np.s_[0, 0, 0], np.s_[::-1]], ids=str)
def test_bad_indices_are_index_errors(key):
    with pytest.raises(IndexError):
        tb.jit(lambda a: a[key])(A)


def test_the_open_batch_is_minus_one_and_cannot_be_indexed():
    g = tb.Graph()
    x = g.input("x", (5, 3))
    assert x.shape == (-1, 5, 3) and x.ndim == 3 and x.dtype == "f32"
    assert x[:, 1].shape == (-1, 3)
    assert x[:, None, 1:3].shape == (-1, 1, 2, 3)
    with pytest.raises(IndexError, match="open batch"):
        x[0]
    for use in (len, list):
        with pytest.raises(TypeError, match="open batch"):
            use(x)


def test_iterating_gives_the_parts():
    got = tb.jit(lambda a: [row * 2 for row in a] + [a[0] * len(a)])(A)
    np.testing.assert_array_equal(got, [*(2 * A), 4 * A[0]])


def test_a_value_keeps_its_graph_alive():
    value = tb.Graph().input("x", (3,))
    gc.collect()
    assert "x" in repr(value)
    assert tb.relu(value).shape == (-1, 3)


def test_constants_may_be_whole_numbers():
    got = tb.jit(lambda a: tb.accuracy(a, np.array([1, 0])))(np.array([[0.0, 1.0], [0.0, 1.0]]))
    assert got == 0.5
    large = np.array([2**30 + 1, -5], np.int32)
    np.testing.assert_array_equal(tb.jit(lambda a: a + large)(np.ones(2, np.int32)), large + 1)


def test_equality_is_an_op_and_values_are_keys():
    b = A.copy()
    b[0] = -1.0
    got = tb.jit(lambda a, b: (a == b, a != b, a == 0.0, b == -1))(A, b)
    for array, wanted in zip(got, (A == b, A != b, A == 0, b == -1)):
        np.testing.assert_array_equal(array, wanted)
    np.testing.assert_array_equal(tb.jit(lambda a: tb.where(a == -1.0, 5.0, a))(b)[0], 5.0)
    g = tb.Graph()
    x, y = g.input("x", (3,)), g.input("y", (3,))
    names = {x: "x", y: "y"}
    assert names[x] == "x" and names[y] == "y" and len({x, y, x}) == 2
    assert (x == None) is False and x != "x" and x in [x, y]  # noqa: E711
    with pytest.raises(TypeError, match="no truth"):
        y in [x]  # noqa: B015


@pytest.mark.parametrize(
    "key, message",
    [(np.s_[[True, False]], "mask of shape"), (np.s_[:, [True, False]], r"\(2,\) does not fit \(6,\)"),
     (np.s_[np.ones((4, 5), bool)], "does not fit"), (np.s_[True], "got True"),
     (np.s_[0, np.bool_(False)], "got"), (np.s_[np.array(True)], "got array"), (np.s_[1.0], "got 1.0"),
     (np.s_["a"], "got 'a'"), (np.s_[..., ...], "one ellipsis")], ids=str,
)  # fmt: skip
def test_what_is_no_index_is_an_index_error(key, message):
    with pytest.raises(IndexError, match=message):
        tb.jit(lambda a: a[key])(A)


@pytest.mark.parametrize("key", [np.s_[None], np.s_[..., None], np.s_[..., np.arange(6) > 2],
                                 np.s_[0, ..., [True, False] * 3]], ids=str)
def test_new_axes_and_masks_are_numpys(key):
    np.testing.assert_array_equal(tb.jit(lambda a: a[key])(A), A[key])


def test_division_by_and_of_a_number_is_exact():
    x = np.random.default_rng(6).uniform(-4, 4, 999).astype(np.float32)
    x[:3] = 0.0, 1e-10, 3e38
    for c in (3.0, 8.0, 1e-39, 3e38):
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(tb.jit(lambda v, c=c: v / c)(x), x / np.float32(c))
            np.testing.assert_array_equal(tb.jit(lambda v, c=c: c / v)(x), np.float32(c) / x)


def in_f16(function, x):
    """A function of a Value of f16, of f16 numbers."""
    graph = tb.Graph()
    graph.output("y", function(graph.input("x", (1,), "f16")))
    return tb.Predictor(graph, {}, batch=len(x)).predict(x[:, None])[:, 0]


@pytest.mark.parametrize("c", [3.0, 7.0, 4.0, 49.0, -0.375])
def test_division_of_16_bits_by_and_of_their_numbers_is_rounded_once(c):
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    x = x[np.isfinite(x) & (x != 0)]
    wide = x.astype(np.float64)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(in_f16(lambda v: v / c, x), (wide / c).astype(np.float16))
        np.testing.assert_array_equal(in_f16(lambda v: c / v, x), (c / wide).astype(np.float16))


@pytest.mark.parametrize("c", [0.1, 1e-3, 123.456, 1e6])
def test_division_of_16_bits_by_and_of_other_numbers_is_that_of_f32(c):
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    x = x[np.isfinite(x) & (x != 0)]
    wide, number = x.astype(np.float32), np.float32(c)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(in_f16(lambda v: v / c, x), (wide / number).astype(np.float16))
        np.testing.assert_array_equal(in_f16(lambda v: c / v, x), (number / wide).astype(np.float16))


def test_division_of_bfloat16_by_and_of_a_number_is_that_of_f32():
    x = np.random.default_rng(8).uniform(-4, 4, 999).astype(np.float32)
    halves = (x.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)  # what bf16 holds
    for c in map(np.float32, (3.0, 0.1, 49.0)):
        for quotient in (lambda v, c=c: v / c, lambda v, c=c: c / v):
            rounded = tb.jit(lambda v: tb.cast(tb.cast(v, "bf16"), "f32"))(quotient(halves).astype(np.float32))
            got = tb.jit(lambda v, q=quotient: tb.cast(q(tb.cast(v, "bf16")), "f32"))(halves)
            np.testing.assert_array_equal(got, rounded)


def test_depthwise_convolutions_and_cells_take_weights():
    rng = np.random.default_rng(3)
    images, weight, bias = (rng.standard_normal(s).astype(np.float32) for s in ((2, 6, 6, 3), (6, 3, 3, 1), (6,)))
    for options in ({}, {"stride": 2, "padding": 1}):
        np.testing.assert_array_equal(
            tb.depthwise_conv2d(images, weight, bias, **options),
            tb.conv2d(images, weight, bias, groups=3, **options),
        )
        np.testing.assert_array_equal(
            tb.depthwise_conv1d(images[:, 0], weight[:, 0], bias, **options),
            tb.conv1d(images[:, 0], weight[:, 0], bias, groups=3, **options),
        )
    x, h, c = (rng.standard_normal(s).astype(np.float32) for s in ((2, 5), (2, 4), (2, 4)))
    weights = [rng.standard_normal(s).astype(np.float32) for s in ((16, 5), (16, 4), (16,), (16,))]
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    got = tb.lstm_cell(x, h, c, *weights)
    parameters = {f"l.{name}": value for name, value in zip(names, weights)}
    want = tb.functional_call(tb.lstm_cell, parameters, x, h, c, units=4, name="l")
    for mine, theirs in zip(got, want):
        np.testing.assert_array_equal(mine, theirs)


def test_batch_norm_of_weights_has_no_statistics_where_it_is_given_none():
    x = np.random.default_rng(4).standard_normal((8, 3)).astype(np.float32)
    gamma, beta = np.array([1.0, 2.0, 0.5], np.float32), np.array([0.0, 1.0, -1.0], np.float32)
    got = tb.batch_norm(x, gamma, beta, track_running_stats=False)
    want = (x - x.mean(0)) / np.sqrt(x.var(0) + 1e-5) * gamma + beta
    np.testing.assert_allclose(got, want, atol=1e-5)
    with pytest.raises(ValueError, match="track_running_stats"):
        tb.batch_norm(x, gamma, beta, np.zeros(3), np.ones(3), track_running_stats=False)


def test_types_may_be_those_of_numpy_and_pytorch():
    torch = pytest.importorskip("torch")
    g = tb.Graph()
    given = {np.int8: "i8", "float16": "f16", torch.bfloat16: "bf16", torch.bool: "bool"}
    for i, (dtype, wanted) in enumerate(given.items()):
        assert g.input(f"x{i}", (2,), dtype=dtype).dtype == wanted
    with pytest.raises(ValueError, match=r'there is no element type "complex64"; known: "i4"'):
        g.input("x", (2,), dtype=torch.complex64)
