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


def test_nibbles_are_int8_from_minus_8_to_7():
    graph = tb.Graph()
    x = graph.input("x", (4,), "i4")
    offset = graph.parameter("offset", (4,), tb.init.constant(1.0), dtype="i4")
    graph.output("same", tb.reshape(x, (-1, 2, 2)))
    graph.output("sum", tb.cast(x, "i32") + tb.cast(offset, "i32"))
    predictor = tb.Predictor(graph, {"offset": np.array([-8, 7, 0, 3], np.int8)}, batch=2)
    given = np.array([[-8, -1, 0, 7], [1, 2, 3, 4], [7, 7, -8, -8]], np.int8)
    for data in (given, given.astype(np.int64), [given[:2], given[2:]]):
        got = predictor.predict(data)
        assert got["same"].dtype == np.int8
        np.testing.assert_array_equal(got["same"], given.reshape(3, 2, 2))
        np.testing.assert_array_equal(got["sum"], given.astype(np.int32) + [-8, 7, 0, 3])
    for wrong in (8, -9):
        with pytest.raises(ValueError, match=r"\[x\] holds whole numbers outside of i4's range, -8 to 7"):
            predictor.predict(np.full((1, 4), wrong, np.int8))
    with pytest.raises(ValueError, match=r"\[x\] expected i4, got an array of float32"):
        predictor.predict(np.zeros((1, 4), np.float32))
    with pytest.raises(ValueError, match=r"\[offset\] element 3 is 8, no number of i4"):
        predictor.load_state_dict({"offset": np.array([0, 0, 0, 8], np.int8)})
    np.testing.assert_array_equal(predictor.parameters["offset"], [-8, 7, 0, 3])


def test_nibbles_train_and_are_labels():
    graph = tb.Graph()
    x, y = graph.input("x", (4,), "i4"), graph.label("y", (2,), "i4")
    error = tb.dense(tb.cast(x, "f32"), units=2) - tb.cast(y, "f32")
    graph.minimize(tb.mean(error * error))
    rows = np.arange(-8, 8, dtype=np.int8).repeat(4).reshape(16, 4)
    data = {"x": rows, "y": rows[:, :2]}
    trainer = tb.Trainer(graph, optimizer=tb.Adam(lr=0.05), batch=4)
    before = trainer.evaluate(data).loss
    trainer.fit(data, epochs=20, progress=False)
    assert trainer.evaluate(data).loss < 0.1 * before


@pytest.mark.parametrize("dtype", ["bool", "i4"])
def test_samples_of_packed_elements_need_not_fill_whole_bytes(dtype):
    graph = tb.Graph()
    x = graph.input("x", (3,), dtype)
    graph.output("same", tb.reshape(x, (-1, 3)))
    graph.output("sum", tb.sum(tb.cast(x, "i32"), axes=1))
    target = graph.label("target", (3,), dtype)
    difference = tb.dense(tb.cast(x, "f32"), units=3) - tb.cast(target, "f32")
    graph.minimize(tb.mean(difference * difference))
    draws = np.random.default_rng(0).integers(-8, 8, (11, 3))
    given = draws.astype(np.int8) if dtype == "i4" else draws > 0
    trainer = tb.Trainer(graph, optimizer=tb.Adam(lr=0.05), batch=4)
    predictor = tb.Predictor(graph, trainer.state_dict(), batch=4)
    for data in (given, [given[:4], given[4:8], given[8:]]):
        got = predictor.predict(data)
        assert got["same"].dtype == given.dtype
        np.testing.assert_array_equal(got["same"], given)
        np.testing.assert_array_equal(got["sum"], given.sum(1))
    rows = {"x": given, "target": given}
    before = trainer.evaluate(rows).loss
    trainer.fit(rows, epochs=30, progress=False)
    assert trainer.evaluate(rows).loss < 0.5 * before


def test_where_takes_masks_of_booleans():
    mask = np.array([True, False, True])
    graph = tb.Graph()
    x = graph.input("x", (3,), "bool")
    graph.output("y", tb.where(x, 1.5, tb.where(mask, -1.0, 2.0)))
    got = tb.Predictor(graph, {}).predict(np.array([[True, False, False], [False, True, True]]))
    np.testing.assert_array_equal(got, [[1.5, 2.0, -1.0], [-1.0, 1.5, 1.5]])
    got = tb.where(mask, np.array([2**40, 1, 2]), np.array([3, 4, -(2**50)]))
    assert got.dtype == np.int64
    np.testing.assert_array_equal(got, [2**40, 4, 2])


def test_whole_numbers_out_of_range_are_no_parameters():
    graph = tb.Graph()
    graph.output("y", graph.input("x", (2,), "i8") + graph.parameter("p", (2,), dtype="i8"))
    predictor = tb.Predictor(graph, {"p": np.array([1, 2])})
    with pytest.raises(ValueError, match="outside of int8's range, -128 to 127"):
        predictor.load_state_dict({"p": np.array([1, 300])})
    np.testing.assert_array_equal(predictor.parameters["p"], [1, 2])


MOVES = {
    "concat": lambda x: tb.concat([x, x], axis=1),
    "slice": lambda x: tb.slice(x, axes=1, starts=1, stops=3),
    "transpose": lambda x: tb.transpose(x, (0, 2, 1)),
    "gather": lambda x: tb.gather(x, tb.cast(x, "i32"), axis=1),
    "index_select": lambda x: tb.index_select(x, np.array([4, 0, 7], np.int32), axis=1),
    "flip": lambda x: tb.flip(x, axes=(1,)),
    "roll": lambda x: tb.roll(x, 1, 1),
    "split": lambda x: tb.split(x, axis=1, sizes=(2, 3))[1],
    "tril": lambda x: tb.tril(x),
    "triu": lambda x: tb.triu(x, diagonal=1),
    "pad": lambda x: tb.pad(x, before=(0, 1, 0), after=(0, 0, 2), value=1.0),
    "reflect": lambda x: tb.pad(x, before=(0, 1, 0), after=(0, 0, 1), mode="reflect"),
    "indexing": lambda x: x[:, 1:3],
}


@pytest.mark.parametrize("dtype", ["i4", "bool"])
@pytest.mark.parametrize("name", MOVES)
def test_ops_that_move_elements_take_packed_ones(name, dtype):
    draws = np.random.default_rng(1).integers(-8, 8, (3, 5, 3))
    given = draws.astype(np.int8) if dtype == "i4" else draws > 0
    graph = tb.Graph()
    x = graph.input("x", given.shape[1:], dtype)
    graph.output("packed", MOVES[name](x))
    graph.output("bytes", MOVES[name](tb.cast(x, "i8")))
    got = tb.Predictor(graph, {}, batch=3).predict(given)
    assert got["packed"].dtype == given.dtype
    np.testing.assert_array_equal(got["packed"], got["bytes"])


@pytest.mark.parametrize("move", [lambda x: tb.reshape(x, (-1, 16)), tb.stop_gradient, tb.flatten])
def test_ops_that_keep_the_order_take_packed_elements(move):
    graph = tb.Graph()
    graph.output("y", move(graph.input("x", (4, 4), "i4")))
    given = np.arange(-16, 16, dtype=np.int8).reshape(2, 4, 4) // 2
    got = tb.Predictor(graph, {}).predict(given)
    np.testing.assert_array_equal(got.reshape(given.shape), given)


INTEGERS = ["int8", "uint8", "int16", "int32", "uint32", "int64"]


def traced(dtype, function):
    """The function of a Value of this type, run on [[5, 2, 9]]."""
    graph = tb.Graph()
    graph.output("y", function(graph.input("x", (3,), dtype)))
    return tb.Predictor(graph, {}).predict(np.array([[5, 2, 9]], dtype))[0]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_a_number_takes_the_type_of_the_value_beside_it(dtype):
    given = np.array([5, 2, 9], dtype)
    for function in (lambda x: x + 3, lambda x: 20 - x, lambda x: x * 2, lambda x: 2 * x):
        got = traced(dtype, function)
        assert got.dtype == given.dtype
        np.testing.assert_array_equal(got, function(given))
    assert list(traced(dtype, lambda x: x < 5)) == [0, 1, 0]
    assert list(traced(dtype, lambda x: x == 5)) == [1, 0, 0]
    assert list(traced(dtype, lambda x: tb.maximum(x, np.int64(4)))) == [5, 4, 9]


def test_a_number_is_as_exact_as_the_value_beside_it():
    large = 2**53 + 1
    graph = tb.Graph()
    x, y = graph.input("x", (1,), "i64"), graph.input("y", (1,), "f64")
    graph.output("sum", x + large)
    graph.output("equal", y == 0.1)
    got = tb.Predictor(graph, {}).predict({"x": np.array([[1]]), "y": np.array([[0.1]])})
    assert got["sum"] == large + 1 and got["equal"] == 1
    with pytest.raises(ValueError, match="i32"):
        traced("int32", lambda x: x + 2.5)
    with pytest.raises(ValueError, match="outside of uint8's range"):
        traced("uint8", lambda x: tb.maximum(x, -1))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_an_array_keeps_its_type_beside_a_value_of_that_type(dtype):
    more = np.array([1, 2, 3], dtype)
    got = traced(dtype, lambda x: x + more)
    assert got.dtype == more.dtype
    np.testing.assert_array_equal(got, [6, 4, 12])
    np.testing.assert_array_equal(traced(dtype, lambda x: x + [1, 2, 3]), got)


def test_doubles_stay_doubles_beside_a_value_of_them():
    exact = np.array([5.0, 2 + 2**-40, 9.0])
    assert list(traced("float64", lambda x: x == exact)) == [1, 0, 1]


@pytest.mark.parametrize("factor", [np.int64(3), np.int8(3), np.float64(3), np.float16(3), 3, True + 2,
                                    np.array(3), np.array([3, 3, 3]), [3, 3, 3], np.full(3, 3, "uint16"),
                                    np.full(3, 3.0)], ids=repr)
def test_integers_beside_floating_point_become_floating_point(factor):
    for dtype in ("float32", "float16"):
        got = traced(dtype, lambda x: x * factor)
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, [15, 6, 27])
        np.testing.assert_array_equal(traced(dtype, lambda x: factor - x), [-2, 1, -6])


def test_indices_of_any_integer_type_stand_beside_values_of_any():
    table = np.arange(12.0).reshape(4, 3)
    for dtype in ("int64", "int16", "uint8", ">u4"):
        rows = np.array([3, 0], dtype)
        np.testing.assert_array_equal(tb.embedding(rows, table), table[[3, 0]])
        np.testing.assert_array_equal(tb.index_select(table, rows, axis=0), table[[3, 0]])
        np.testing.assert_array_equal(traced("int64", lambda x: tb.index_select(x, rows % 3, axis=1)), [5, 5])
    with pytest.raises(ValueError, match="as many dimensions"):
        traced("float32", lambda x: tb.gather(x, np.array([0])))
    with pytest.raises(ValueError, match="expected shapes that broadcast"):
        traced("float32", lambda x: x + np.arange(5))


def test_arrays_at_once_keep_their_integers():
    for dtype in ("int8", "uint8", "int16", "int32", "uint32"):
        whole = np.array([5, 2, 9], dtype)
        assert tb.add(whole, whole).dtype == dtype and tb.add(whole, 1).dtype == dtype
        np.testing.assert_array_equal(tb.remainder(whole, 3), [2, 2, 0])
    big = np.array([2**32 - 1, 7], ">u4")
    np.testing.assert_array_equal(tb.add(big, np.uint32(0)), big)
    assert tb.add(np.arange(3), np.arange(3)).dtype == np.int64
    assert tb.add(np.arange(3.0), np.arange(3)).dtype == np.float32
    mask = np.array([True, False])
    np.testing.assert_array_equal(tb.where(mask, 1.5, np.array([2, 3])), [1.5, 3])
    np.testing.assert_array_equal(tb.mul(mask, np.array([1.5, 2.5])), [1.5, 0])


def test_integers_at_once_are_exact_or_an_error():
    large = np.array([2**40 + 1, 3])
    np.testing.assert_array_equal(tb.add(large, large), 2 * large)
    np.testing.assert_array_equal(tb.gather(large, np.array([1, 0]), axis=0), large[::-1])
    assert list(tb.eq(large, large - [1, 0])) == [0, 1]
    # Of different types: the least that holds both.
    mixed = tb.add(np.array([100, -1], np.int8), np.array([200, 1], np.uint8))
    assert mixed.dtype == np.int16 and list(mixed) == [300, 0]
    # An op that only computes with f32 takes integers that f32 holds, and no others.
    assert tb.relu(np.array([2**24, -3])).dtype == np.float32
    np.testing.assert_array_equal(tb.relu(np.array([2**31 - 128, 2**62])), [2**31 - 128, 2**62])
    for wrong in (2**24 + 1, -(2**24) - 1, 2**62 + 1, 2**63 - 1):
        with pytest.raises(ValueError, match=rf"\[relu\] x holds {wrong} of int64.*float32.*x may be f32, f16 here"):
            tb.relu(np.array([5, wrong]))
    with pytest.raises(ValueError, match=r"\[add\] b holds 16777217 of int64"):
        tb.add(np.array([0.5]), np.array([2**24 + 1]))
    with pytest.raises(ValueError, match=r"\[relu\] x holds 18446744073709551615 of uint64"):
        tb.relu(np.array([2**64 - 1], np.uint64))


def test_the_values_decide_anew_at_every_call():
    np.testing.assert_array_equal(tb.relu(np.array([1, -2])), [1, 0])
    with pytest.raises(ValueError, match="16777217"):
        tb.relu(np.array([2**24 + 1, -2]))
    np.testing.assert_array_equal(tb.relu(np.array([3, -2])), [3, 0])


def test_indices_out_of_range_are_errors():
    with pytest.raises(ValueError, match=r"\[gather\] index holds whole numbers outside of int32's range.*may be i32"):
        tb.gather(np.array([[1.0]]), np.array([[2**32]]), axis=1)
    with pytest.raises(ValueError, match=r"\[softmax_cross_entropy\] labels holds"):
        tb.softmax_cross_entropy(np.array([[1.0, 2.0]]), np.array([2**32 + 1]))


def test_floating_point_too_large_for_the_type_is_an_error():
    with pytest.raises(ValueError, match=r"\[relu\] x holds 1e\+300 of float64, which is too large for float32"):
        tb.relu(np.array([1e300]))
    with pytest.raises(ValueError, match="too large for float32"):
        tb.add(np.array([1.0]), 1e39)
    np.testing.assert_array_equal(tb.relu(np.array([np.inf, np.nan, 0.1])), np.float32([np.inf, np.nan, 0.1]))
    graph = tb.Graph()
    graph.output("y", tb.relu(graph.input("x", (1,), "float16")))
    with pytest.raises(ValueError, match=r"\[x\] holds 70000.0 of float32, which is too large for float16"):
        tb.Predictor(graph, {}).predict(np.array([[7e4]], np.float32))
    with pytest.raises(ValueError, match=r"\[x\] holds 2049 of int64, which is not a number of float16"):
        tb.Predictor(graph, {}).predict(np.array([[2049]]))


def test_booleans_stay_booleans_where_the_op_takes_them():
    mask = np.array([True, False, True])
    assert tb.reshape(mask, (3, 1)).dtype == np.bool_
    repeated = tb.broadcast_to(mask, (3, 3))
    assert repeated.dtype == np.bool_ and (repeated == mask).all()
    assert tb.sum(mask) == 2 and tb.sum(mask).dtype == np.int32
    assert tb.mean(mask) == pytest.approx(2 / 3)
    joined = tb.concat([mask, mask[:1]], axis=0)
    assert joined.dtype == np.bool_ and list(joined) == [1, 0, 1, 1]
    assert list(tb.eq(mask, ~mask)) == [0, 0, 0]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16"])
def test_sums_of_narrow_integers_do_not_wrap(dtype):
    x = np.array([[100, 120], [127, 5]], dtype)
    for got, want in ((tb.sum(x), x.sum()), (tb.sum(x, axes=0), x.sum(0)), (tb.cumsum(x, axis=1), x.cumsum(1))):
        assert got.dtype == np.int32
        np.testing.assert_array_equal(got, want)


def test_sums_and_means_of_values_count_booleans():
    graph = tb.Graph()
    x = graph.input("x", (3,))
    positive = tb.cast(x > 0, bool)
    graph.output("count", tb.sum(positive, axes=1))
    graph.output("share", tb.mean(positive, axes=1))
    graph.output("above", tb.sum(x > 1, axes=1))
    got = tb.Predictor(graph, {}, batch=2).predict(np.array([[1, -1, 2], [0, -3, -4]], np.float32))
    np.testing.assert_array_equal(got["count"], [2, 0])
    assert got["count"].dtype == np.int32
    np.testing.assert_array_equal(got["share"], np.float32([2 / 3, 0]))
    np.testing.assert_array_equal(got["above"], [1, 0])
    assert tb.sum(np.array([2**32 - 1, 1], np.uint32)) == 2**32


def test_types_are_read_and_not_tried(monkeypatch):
    built = []
    build = tb._core.build_op
    monkeypatch.setattr(tb._core, "build_op", lambda *given: built.append(given[0]) or build(*given))
    graph = tb.Graph()
    x = graph.input("x", (3,), "i64")
    assert (x + np.array([1, 2, 3], np.int8)).dtype == "i64"
    assert tb.clamp(x, np.array(1), np.array(5)).dtype == "i64"
    assert built == ["add", "clamp"]


def test_errors_name_the_argument_and_the_types_it_takes():
    graph = tb.Graph()
    x, i = graph.input("x", (3, 2)), graph.input("i", (3,), "i16")
    with pytest.raises(ValueError, match=r"\[exp\] x must be floating, got i16: cast first"):
        tb.exp(i)
    with pytest.raises(ValueError, match=r"\[gather\] index must be i32, got f32: cast first"):
        tb.gather(x, x, axis=1)
    with pytest.raises(ValueError, match=r"\[add\] has no kernel for these types together, it has floating, i8"):
        x + i


WHOLE = ["int8", "uint8", "int16", "int32", "uint32", "int64"]


def integers(dtype, shape, seed=0):
    """Many of equal size, and the ends of the type."""
    info = np.iinfo(dtype)
    x = np.random.default_rng(seed).integers(max(info.min, -9), 9, shape).astype(dtype)
    x.flat[:2] = info.max, info.min
    return x


@pytest.mark.parametrize("dtype", WHOLE)
def test_sort_and_topk_of_integers(dtype):
    for shape, axis in (((4, 130), 1), ((70, 3), 0), ((2, 5, 7), 1)):
        x = integers(dtype, shape)
        for descending in (False, True):
            values, indices = tb.sort(x, axis=axis, descending=descending)
            assert values.dtype == dtype
            order = np.argsort(-x.astype(object) if descending else x, axis=axis, kind="stable")
            np.testing.assert_array_equal(indices, order)
            np.testing.assert_array_equal(values, np.take_along_axis(x, order, axis))
            np.testing.assert_array_equal(tb.argsort(x, axis=axis, descending=descending), order)
        best = tb.topk(x, k=3, axis=axis)
        order = np.argsort(-x.astype(object), axis=axis, kind="stable").take(range(3), axis)
        np.testing.assert_array_equal(best.indices, order)
        np.testing.assert_array_equal(best.values, np.take_along_axis(x, order, axis))


def test_sort_tells_large_neighbours_apart():
    assert list(tb.sort(np.array([2**24 + 1, 2**24, 2**62 + 1, 2**62])).values) == [2**24, 2**24 + 1, 2**62, 2**62 + 1]


@pytest.mark.parametrize("dtype", WHOLE)
def test_sign_clamp_and_scatter_of_integers(dtype):
    x = integers(dtype, (3, 5))
    np.testing.assert_array_equal(tb.sign(x), np.sign(x))
    low, high = np.array(1, dtype), np.array([2, 3, 4, 5, 6], dtype)
    got = tb.clamp(x, low, high)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, np.clip(x, low, high))
    index = np.array([[0, 2, 4, 1, 3], [4, 3, 2, 1, 0]])
    source = integers(dtype, (2, 5), 1)
    want = x.copy()
    np.put_along_axis(want[:2], index, source, 1)
    got = tb.scatter(x, index, source, axis=1)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, want)
    np.put_along_axis(want[:2], index, np.array(7, dtype), 1)
    np.testing.assert_array_equal(tb.scatter(x, index, axis=1, value=7.0), want)
    want = x.copy()
    with np.errstate(over="ignore"):
        np.add.at(want, (np.array([[0], [1]]), index), source)
    np.testing.assert_array_equal(tb.scatter_add(x, index, source, axis=1), want)
    with pytest.raises(ValueError, match="cannot hold 0.5"):
        tb.scatter(tb.Graph().input("x", (5,), dtype), index, axis=1, value=0.5)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_products_of_integers_wrap(dtype):
    a, b = integers(dtype, (2, 3, 4)), integers(dtype, (4, 5), 1)
    with np.errstate(over="ignore"):
        want = a @ b
    got = tb.matmul(a, b)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(tb.matmul(a, b.T.copy(), transpose_b=True), want)
    bias = integers(dtype, (5,), 2)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(tb.matmul(a, b, bias), want + bias)
        np.testing.assert_array_equal(tb.prod(a, axes=1), a.prod(1, dtype=dtype))
    assert tb.matmul(np.array([[100]], np.int8), np.array([[100]], np.int8)) == 10000
    assert tb.prod(np.array([2**21, 2**21, 2**20 + 1])) == 2**42 * (2**20 + 1)


@pytest.mark.parametrize("dtype", ["int64", "uint8", "int32", "int16"])
def test_labels_and_indices_of_any_integer_type(dtype):
    scores, classes = np.array([[1.0, 3.0], [2.0, 0.5]]), np.array([1, 0], dtype)
    graph = tb.Graph()
    x, y = graph.input("x", (2,)), graph.label("y")
    graph.minimize(tb.softmax_cross_entropy(tb.dense(x, units=2), y))
    graph.metric("accuracy", tb.accuracy(x, y))
    trainer = tb.Trainer(graph, batch=2)
    assert trainer.evaluate({"x": scores, "y": classes}).metrics["accuracy"] == 1.0
    assert tb.accuracy(scores, classes) == 1.0
    np.testing.assert_array_equal(tb.one_hot(classes, classes=2), [[0, 1], [1, 0]])
    np.testing.assert_array_equal(tb.gather(scores, classes[:, None], axis=1), [[3.0], [2.0]])
    if dtype == "int64":
        with pytest.raises(ValueError, match=r"\[y\] holds whole numbers outside of int32's range"):
            trainer.evaluate({"x": scores, "y": np.array([2**32, 2**32 + 1])})


def test_options_that_only_look_equal_are_not():
    minus = -np.zeros(1, np.float32)
    assert np.signbit(tb.affine(minus, shift=-0.0)[0])
    assert not np.signbit(tb.affine(minus, shift=0.0)[0])
