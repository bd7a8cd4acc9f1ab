"""Safetensors files, data sets, graphs."""

import json
import struct

import numpy as np
import pytest

import thimble as tb


def test_safetensors_are_the_formats_own(tmp_path, rng):
    tensors = {
        "b.weight": rng.normal(size=(3, 4)).astype(np.float32),
        "a": np.arange(5, dtype=np.int32),
        "half": np.ones((2, 1), np.float16),
        "bytes": np.arange(7, dtype=np.uint8),
        "one": np.float32(3),
        "wide": np.arange(3.0),
    }
    tb.save_safetensors(tmp_path / "t.safetensors", tensors, {"by": "test"})
    raw = (tmp_path / "t.safetensors").read_bytes()
    length = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8 : 8 + length])
    assert header.pop("__metadata__") == {"by": "test"}
    assert header["b.weight"]["dtype"] == "F32" and header["b.weight"]["shape"] == [3, 4]
    start, end = header["a"]["data_offsets"]
    assert raw[8 + length + start : 8 + length + end] == tensors["a"].tobytes()
    loaded = tb.load_safetensors(tmp_path / "t.safetensors")
    assert loaded.keys() == tensors.keys()
    for name, array in loaded.items():
        np.testing.assert_array_equal(array, tensors[name])
        array.flat[0] += 1  # a copy of its own, that may be written to
    assert loaded["wide"].dtype == np.float32


def test_damaged_files_are_runtime_errors(tmp_path):
    path = tmp_path / "t.safetensors"
    tb.save_safetensors(path, {"a": np.zeros(100)})
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(RuntimeError, match=r"t\.safetensors"):
        tb.load_safetensors(path)


def test_the_built_in_digits_are_arrays_too():
    train = tb.data.digits(100, seed=5)
    arrays = train.arrays()
    assert len(train) == 100
    assert train.fields == {"image": ("f32", (28, 28, 1)), "digit": ("i32", ())}
    assert arrays["image"].shape == (100, 28, 28, 1)
    assert arrays["image"].min() >= 0 and arrays["image"].max() <= 1
    assert sorted(set(arrays["digit"])) == list(range(10))
    few, rest = train.split(0.2, seed=1)
    assert (len(few), len(rest)) == (80, 20)
    np.testing.assert_array_equal(train.subset([3, 3]).arrays()["digit"], arrays["digit"][[3, 3]])
    np.testing.assert_array_equal(train.take(4).arrays()["image"], arrays["image"][:4])
    assert list(train.named(["x", "y"]).fields) == ["x", "y"]
    with pytest.raises(ValueError, match='expected "train" or "test"'):
        tb.data.digits(10, split="dev")


def test_graphs_describe_themselves():
    g = tb.Graph()
    x = g.input("x", (6,))
    w = g.parameter("w", (6, 2), tb.init.he_normal())
    g.minimize(tb.mean(x @ w))
    assert "matmul" in g.text()
    assert "12 parameters" in g.summary()
    with pytest.raises(ValueError, match="loss already"):
        g.minimize(tb.mean(x))
    with pytest.raises(ValueError, match="x"):
        g.label("x")
    with pytest.raises(ValueError, match="negative"):
        g.input("y", (-1,))


def test_first_values_follow_their_rule():
    g = tb.Graph()
    x = g.input("x", (50,))
    y = tb.dense(x, units=40, name="d", weight_init=tb.init.normal(1.0, 0.1),
                 bias_init=tb.init.constant(3))
    g.minimize(tb.mean(y))
    parameters = tb.Trainer(g).parameters
    assert abs(parameters["d.weight"].mean() - 1) < 0.02
    assert (parameters["d.bias"] == 3).all()
    rule = tb.init.normal(1.0, 0.1)
    np.testing.assert_array_equal(parameters["d.weight"], rule.array((40, 50), name="d.weight"))
    assert (rule.array((40, 50), seed=1) != rule.array((40, 50))).any()
    with pytest.raises(ValueError, match="weight_init must be an initializer"):
        tb.dense(x, units=4, weight_init=0.5)
