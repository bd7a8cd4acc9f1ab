"""Arrays of bfloat16: with the package ml_dtypes, and as two bytes without it."""

import json
import pathlib
import struct
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import thimble as tb

GIVEN = np.array([[1.5, -2.0], [1.00390625, 1.01171875], [np.inf, 0.0]], np.float32)  # two are ties to even
BITS = np.array([[0x3FC0, 0xC000], [0x3F80, 0x3F82], [0x7F80, 0x0000]], np.uint16)


@pytest.fixture
def bfloat16():
    return pytest.importorskip("ml_dtypes").bfloat16


def narrow_network(folder):
    """A model whose matrix is stored as bf16."""
    graph = tb.Graph()
    graph.output("y", tb.dense(graph.input("x", (4,)), units=3, name="up"))
    tb.save_model(graph, folder / "m.safetensors")
    return tb.store_weights(tb.load_model(folder / "m.safetensors"), "bf16")


def test_it_goes_in_and_comes_out(bfloat16):
    graph = tb.Graph()
    graph.output("y", tb.neg(graph.input("x", (2,), "bfloat16")))
    predictor = tb.Predictor(graph, {}, batch=2)
    out = predictor.predict(GIVEN)
    assert out.dtype == bfloat16
    for given in (GIVEN, BITS, BITS.view(bfloat16), BITS.view("V2"), BITS.view(bfloat16).astype(np.float64)):
        np.testing.assert_array_equal(predictor.predict(given).view(np.uint16), BITS ^ 0x8000)
        out[:] = 0
        assert predictor.predict(given, out=out) is out
        np.testing.assert_array_equal(out.view(np.uint16), BITS ^ 0x8000)
    np.testing.assert_array_equal(predictor.predict(np.array([[3, -4]])), np.array([[-3, 4]], np.float32))
    with pytest.raises(ValueError, match="too large for bf16"):
        predictor.predict(np.full((1, 2), 3.4e38, np.float32))
    with pytest.raises(ValueError, match=r"out: expected bfloat16 \[3, 2\], got uint16 \[3, 2\]"):
        predictor.predict(GIVEN, out=np.empty((3, 2), np.uint16))
    assert tb.cast(GIVEN, "bf16").dtype == bfloat16
    one = tb.neg(np.array(0.5, bfloat16))
    assert one.shape == () and one == -0.5


def test_files_keep_it(tmp_path, bfloat16):
    tensors = {"all": BITS.view(bfloat16), "some": BITS.view(bfloat16)[::2, 1], "none": np.empty((0, 2), bfloat16),
               "one": np.array(0.5, bfloat16), "f32": GIVEN, "bytes": BITS.view("V2")}
    tb.save_safetensors(tmp_path / "t.safetensors", tensors)
    raw = (tmp_path / "t.safetensors").read_bytes()
    header = json.loads(raw[8:8 + struct.unpack("<Q", raw[:8])[0]])
    assert {name: entry["dtype"] for name, entry in header.items() if name in tensors} == {
        name: "F32" if name == "f32" else "BF16" for name in tensors}
    loaded = tb.load_safetensors(tmp_path / "t.safetensors")
    for name, given in tensors.items():
        assert loaded[name].dtype == (np.float32 if name == "f32" else bfloat16)
        assert loaded[name].shape == given.shape and loaded[name].tobytes() == given.tobytes()
    tb.save_safetensors(tmp_path / "again.safetensors", loaded)
    assert (tmp_path / "again.safetensors").read_bytes() == raw
    with pytest.raises(TypeError, match=r"^\[save_safetensors\] a is of uint16, .*view\(ml_dtypes.bfloat16\)"):
        tb.save_safetensors(tmp_path / "u", {"a": BITS})


def test_state_dicts_keep_it(tmp_path, bfloat16):
    trainer = tb.Trainer(tb.adapt(tb.add_lora(narrow_network(tmp_path), rank=2, targets=["up"]), loss="mse"), batch=2)
    first = trainer.state_dict()
    assert first["up.weight"].dtype == bfloat16
    trainer.load_state_dict(first)
    tb.save_safetensors(tmp_path / "s.safetensors", first)
    given = np.linspace(-2, 2, 12, dtype=np.float32).reshape(3, 4)
    for new in (given, given.astype(bfloat16), given.astype(bfloat16).view(np.uint16), given.astype(np.float64)):
        trainer.load_state_dict(tb.load_safetensors(tmp_path / "s.safetensors"))
        np.testing.assert_array_equal(trainer.state_dict()["up.weight"], first["up.weight"])
        trainer.load_state_dict({"up.weight": new}, strict=False)
        np.testing.assert_array_equal(trainer.parameters["up.weight"], given.astype(bfloat16))
    trainer.load_state_dict({"up.bias": np.ones(3, bfloat16)}, strict=False)  # and where it is f32
    np.testing.assert_array_equal(trainer.parameters["up.bias"], np.ones(3, np.float32))
    with pytest.raises(ValueError, match="too large for bf16"):
        trainer.load_state_dict({"up.weight": np.full((3, 4), 3.4e38, np.float32)}, strict=False)
    with pytest.raises(ValueError, match=r"\[up.weight\] has shape \[3, 4\], got \[4, 3\]"):
        trainer.load_state_dict({"up.weight": given.T}, strict=False)


def test_tensors_of_torch_are_taken_as_what_they_are(tmp_path, bfloat16):
    torch = pytest.importorskip("torch")
    given = torch.tensor([[1.5, -2.0], [0.25, 3.0]], dtype=torch.bfloat16, requires_grad=True)
    np.testing.assert_array_equal(tb.relu(given), [[1.5, 0.0], [0.25, 3.0]])
    tb.save_safetensors(tmp_path / "t.safetensors", {"a": given, "turned": given.T, "one": given[0, 1]})
    loaded = tb.load_safetensors(tmp_path / "t.safetensors")
    np.testing.assert_array_equal(loaded["a"], given.detach().float().numpy())
    np.testing.assert_array_equal(loaded["turned"], given.detach().float().numpy().T)
    assert loaded["one"] == -2.0
    read = pytest.importorskip("safetensors.torch").load_file(tmp_path / "t.safetensors")
    assert read["a"].dtype == torch.bfloat16 and torch.equal(read["a"], given)


def test_it_is_two_bytes_without_the_package(tmp_path):
    narrow_network(tmp_path)
    program = textwrap.dedent("""
        import pathlib, sys
        sys.modules["ml_dtypes"] = None  # as if it were not installed
        import numpy as np
        import thimble as tb
        folder = pathlib.Path(sys.argv[1])
        bits = np.array([0x3FC0, 0xC000, 0x7F80], np.uint16)
        tb.save_safetensors(folder / "t", {"a": bits.view("V2"), "b": np.ones(2, np.float32)})
        loaded = tb.load_safetensors(folder / "t")
        assert loaded["a"].dtype == "V2" and (loaded["a"].view(np.uint16) == bits).all()
        tb.save_safetensors(folder / "again", loaded)
        assert (folder / "again").read_bytes() == (folder / "t").read_bytes()
        numbers = (loaded["a"].view("uint16").astype("uint32") << 16).view("float32")
        assert numbers.tolist() == [1.5, -2.0, float("inf")] == tb.mul(loaded["a"], 1.0).tolist()
        stored = tb.store_weights(tb.load_model(folder / "m.safetensors"), "bf16")
        predictor = tb.Predictor(stored)
        state = predictor.state_dict()
        assert state["up.weight"].dtype == "V2"
        expected = predictor.predict(np.ones((2, 4), np.float32))
        predictor.load_state_dict({name: np.zeros(x.shape, np.float32) for name, x in state.items()})
        assert not predictor.predict(np.ones((2, 4), np.float32)).any()
        tb.save_safetensors(folder / "s", state)
        predictor.load_state_dict(tb.load_safetensors(folder / "s"))
        assert (predictor.predict(np.ones((2, 4), np.float32)) == expected).all()
        graph = tb.Graph()
        graph.output("y", tb.neg(graph.input("x", (3,), "bfloat16")))
        made = tb.Predictor(graph, {}).predict(bits.view("V2")[None])
        assert made.dtype == "V2" and (made.view(np.uint16) == bits ^ 0x8000).all()
    """)
    path = str(pathlib.Path(tb.__file__).parents[1])
    done = subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {path!r})\n{program}", str(tmp_path)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
