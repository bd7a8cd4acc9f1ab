"""Every element type into and out of graphs."""

import numpy as np
import pytest

import thimble as tb

TYPES = ["float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint32", "uint8"]


@pytest.mark.parametrize("dtype", [*TYPES, "bool"])
def test_inputs_and_outputs_keep_their_type(dtype):
    graph = tb.Graph()
    x = graph.input("x", (8,), dtype)
    graph.output("y", tb.reshape(x, (-1, 2, 4)))
    given = np.array([[0, 1, 1, 0, 1, 0, 0, 1], [1, 1, 0, 0, 0, 0, 1, 0], [0] * 8]).astype(dtype)
    got = tb.Predictor(graph, {}, batch=2).predict(given)
    assert got.dtype == given.dtype
    np.testing.assert_array_equal(got, given.reshape(3, 2, 4))


def test_integers_are_exact():
    graph = tb.Graph()
    x = graph.input("x", (2,), "int64")
    graph.output("y", x + graph.parameter("offset", (2,), tb.init.constant(1.0), dtype="int64"))
    large = np.array([[2**53, -7], [2**62, 0]])
    predictor = tb.Predictor(graph, {"offset": np.array([1, 2**40])})
    np.testing.assert_array_equal(predictor.predict(large), large + [1, 2**40])


def test_an_output_of_booleans_need_not_fill_whole_bytes():
    graph = tb.Graph()
    x = graph.input("x", (3,))
    graph.output("positive", tb.cast(tb.gt(x, 0.0), bool))
    given = np.array([[1.0, -1.0, 2.0], [0.0, 3.0, -3.0], [1.0, 1.0, -1.0]], np.float32)
    got = tb.Predictor(graph, {}, batch=2).predict(given)
    assert got.dtype == np.bool_
    np.testing.assert_array_equal(got, given > 0)


def test_conversions_are_safe():
    graph = tb.Graph()
    graph.output("y", tb.neg(graph.input("x", (1,), "int8")))
    predictor = tb.Predictor(graph, {})
    np.testing.assert_array_equal(predictor.predict(np.array([[5], [-6]])), [[-5], [6]])
    with pytest.raises(ValueError, match="outside of int8's range"):
        predictor.predict(np.array([[300]]))
    with pytest.raises(ValueError, match="expected int8, got an array of float64"):
        predictor.predict(np.array([[0.5]]))


def test_frozen_parameters_have_any_type():
    graph = tb.Graph()
    x = graph.input("x", (2,))
    table = graph.parameter("table", (2,), dtype="int16")
    flags = graph.parameter("flags", (2,), tb.init.ones(), dtype=bool)
    graph.output("y", x * tb.cast(table, "f32") * tb.cast(flags, "f32"))
    weights = {"table": np.array([3, -4], np.int16), "flags": np.array([True, False])}
    predictor = tb.Predictor(graph, weights)
    assert predictor.parameters["table"].dtype == np.int16
    assert predictor.parameters["flags"].dtype == np.bool_
    np.testing.assert_array_equal(predictor.predict(np.ones((1, 2), np.float32)), [[3.0, 0.0]])
    with pytest.raises(ValueError, match="starts from a constant"):
        graph.parameter("other", (2,), tb.init.normal(0.0, 1.0), dtype="i32")


def test_cast_makes_booleans_of_arrays():
    got = tb.cast(np.array([0.0, 2.0, -1.0], np.float32), bool)
    assert got.dtype == np.bool_
    np.testing.assert_array_equal(got, [False, True, True])
