"""ONNX files by Python: written, read as graphs, and read as parts of graphs."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

import thimble as tb

RANDOM = np.random.default_rng(5)


@pytest.fixture
def file(tmp_path: pathlib.Path) -> pathlib.Path:
    g = tb.Graph()
    x = g.input("image", (8, 8, 3))
    h = tb.relu(tb.batch_norm(tb.conv2d(x, channels=4, kernel=3, padding=1, bias=False, name="conv")))
    g.output("scores", tb.dense(tb.flatten(tb.dropout(tb.max_pool2d(h))), units=5, name="head"))
    tb.save_model(g, tmp_path / "m.safetensors", seed=3)
    tb.export_onnx(tb.load_model(tmp_path / "m.safetensors"), tmp_path / "m.onnx")
    return tmp_path / "m.onnx"


def images(count: int) -> Any:
    return RANDOM.normal(size=(count, 8, 8, 3)).astype(np.float32)


def expected(file: pathlib.Path, x: Any) -> Any:
    return tb.Predictor(tb.load_model(file.with_suffix(".safetensors")), batch=len(x)).predict(x)


def test_a_written_model_is_read_trained_and_written_again(file: pathlib.Path) -> None:
    graph = tb.import_onnx(file)
    x = images(4)
    np.testing.assert_allclose(tb.Predictor(graph, batch=4).predict(x), expected(file, x), rtol=1e-5, atol=1e-6)
    trainer = tb.Trainer(tb.adapt(graph, loss="softmax_cross_entropy"), optimizer=tb.SGD(lr=0.1), batch=4)
    before = {name: values.copy() for name, values in trainer.parameters.items()}
    trainer.step({"image": x, "label": np.arange(4)})
    assert {name for name, values in trainer.parameters.items() if (values != before[name]).any()} == set(before)
    tb.export_onnx(trainer, file)
    np.testing.assert_allclose(
        tb.Predictor(tb.import_model(file), batch=4).predict(x), trainer.predict(x), rtol=1e-5, atol=1e-6)


def test_a_model_is_a_part_of_another_graph(file: pathlib.Path) -> None:
    x = images(2)
    scores = tb.jit(lambda v: tb.apply_onnx(file, {"image": v})["scores"] * 2.0)(x)
    np.testing.assert_allclose(scores, 2 * expected(file, x), rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="at least one thimble.Value"):
        tb.apply_onnx(file, {"image": x})
    with pytest.raises(RuntimeError, match="the input .image. is not given"):
        tb.apply_onnx(file, {}, graph=tb.Graph())


def test_errors_name_the_file_and_what_is_wrong(file: pathlib.Path, tmp_path: pathlib.Path) -> None:
    with pytest.raises(FileNotFoundError):
        tb.import_onnx(tmp_path / "none.onnx")
    with pytest.raises(RuntimeError, match="no input has a dimension named .width."):
        tb.import_onnx(file, dims={"width": 3})
    with pytest.raises(TypeError, match="True or False"):
        tb.import_onnx(file, keep_layout="no")  # type: ignore[arg-type]
    (tmp_path / "damaged.onnx").write_bytes(file.read_bytes()[:99])
    with pytest.raises(RuntimeError, match="damaged.onnx.*damaged"):
        tb.import_onnx(tmp_path / "damaged.onnx")
    g = tb.Graph()
    g.output("y", tb.cumprod(g.input("x", (2,)), axis=1))
    with pytest.raises(RuntimeError, match="the op cumprod"):
        tb.export_onnx(g, tmp_path / "cumprod.onnx")
    with pytest.raises(TypeError, match="thimble.Trainer or thimble.Graph"):
        tb.export_onnx("m", file)  # type: ignore[arg-type]
