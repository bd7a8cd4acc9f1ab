"""Predictors write results into arrays of the caller."""

from __future__ import annotations

import numpy as np
import pytest

import thimble as tb


def predictor(batch: int = 2, names: tuple[str, ...] = ("twice",)) -> tb.Predictor:
    g = tb.Graph()
    x = g.input("x", (3,))
    for factor, name in enumerate(names, 2):
        g.output(name, x * float(factor))
    return tb.Predictor(g, {}, batch=batch)


def rows(count: int) -> np.ndarray:
    return np.arange(3 * count, dtype=np.float32).reshape(count, 3)


# Also of a part of a batch, of none, and of what is converted first.
@pytest.mark.parametrize("data", [rows(5), rows(2), rows(0), rows(4)[::2], rows(3).astype(np.float64)])
@pytest.mark.parametrize("named", [False, True])
def test_out_takes_the_results(data, named):
    p = predictor()
    given = {"x": data} if named else data
    wanted = p.predict(given)
    assert wanted.dtype == np.float32
    np.testing.assert_array_equal(wanted, 2 * data)
    out = np.full_like(wanted, 7)
    assert p.predict(given, out=out) is out
    np.testing.assert_array_equal(out, wanted)


def test_results_are_new_arrays():
    p = predictor()
    first = p.predict(rows(2))
    second = p.predict(rows(2) + 1)
    np.testing.assert_array_equal(first, 2 * rows(2))
    np.testing.assert_array_equal(second, 2 * rows(2) + 2)


def test_out_takes_a_named_output():
    p = predictor(names=("twice", "thrice"))
    out = np.empty((2, 3), np.float32)
    np.testing.assert_array_equal(p.predict(rows(2), "thrice", out=out), 3 * rows(2))
    np.testing.assert_array_equal(p.predict(rows(2))["thrice"], out)
    np.testing.assert_array_equal(p.predict(rows(2), "thrice"), out)
    with pytest.raises(ValueError, match="out takes one output; name it with output: twice, thrice"):
        p.predict(rows(2), out=out)
    with pytest.raises(ValueError, match="no output 'four'"):
        p.predict(rows(2), "four", out=out)


# Batches that were read before a result is written must not see it.
def test_out_may_be_the_data():
    x = rows(6)
    predictor().predict(x, out=x)
    np.testing.assert_array_equal(x, 2 * rows(6))
    shared = np.zeros(21, np.float32)
    shared[:18] = rows(6).ravel()
    out = shared[3:].reshape(6, 3)
    predictor().predict(shared[:18].reshape(6, 3), out=out)
    np.testing.assert_array_equal(out, 2 * rows(6))


def read_only() -> np.ndarray:
    array = np.empty((2, 3), np.float32)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        ([[0.0]], TypeError, "expected a NumPy array, got list"),
        (np.empty((2, 3)), ValueError, r"expected float32 \[2, 3\], got float64"),
        (np.empty((3, 3), np.float32), ValueError, r"expected float32 \[2, 3\], got float32 \[3, 3\]"),
        (np.empty((2, 3), ">f4"), ValueError, r"expected float32 \[2, 3\], got >f4"),
        (np.empty((3, 2), np.float32).T, ValueError, "expected a writable, C-contiguous array"),
        (read_only(), ValueError, "expected a writable, C-contiguous array"),
    ],
)
def test_out_is_checked(out, error, message):
    with pytest.raises(error, match=message):
        predictor().predict(rows(2), out=out)


def test_reference_kernels_compute_the_same_in_another_order() -> None:
    g = tb.Graph()
    x = g.input("x", (9, 9, 3))
    g.output("y", tb.dense(tb.flatten(tb.relu(tb.conv2d(x, channels=8, kernel=3))), units=5))
    g.minimize(tb.mse(tb.dense(tb.flatten(x), units=5), g.label("t", (5,), dtype="f32")))
    data = {"x": np.random.default_rng(1).normal(size=(4, 9, 9, 3)).astype(np.float32), "t": np.ones((4, 5), np.float32)}
    plain, fast = (tb.Trainer(g, optimizer=tb.SGD(lr=0.01), batch=4, seed=2, reference_kernels=r) for r in (True, False))
    weights = plain.state_dict()
    first, second = (tb.Predictor(g, weights, batch=4, reference_kernels=r).predict(data["x"]) for r in (True, False))
    np.testing.assert_allclose(first, second, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(first, plain.predict(data["x"]))
    for _ in range(2):
        assert plain.step(data).loss == pytest.approx(fast.step(data).loss, rel=1e-5)
    again = tb.Trainer(g, optimizer=tb.SGD(lr=0.01), batch=4, seed=2, threads=1, reference_kernels=True)
    for _ in range(2):
        again.step(data)
    for name, value in again.state_dict().items():
        np.testing.assert_array_equal(value, plain.state_dict()[name])
    with pytest.raises(TypeError, match="reference_kernels must be True or False, got 1"):
        tb.Predictor(g, weights, reference_kernels=1)  # type: ignore[arg-type]
