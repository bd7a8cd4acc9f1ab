"""Quantized networks from Python."""

import json
import os
import pathlib

import numpy as np
import pytest

import thimble as tb

INPUT = tb.Quantization([0.5])
WEIGHT = tb.Quantization([0.25, 0.5], axis=0)


def layer() -> tb.Graph:
    g = tb.Graph()
    x = g.input("x", (2,), "i8", INPUT)
    weight = g.constant(np.array([[2, 4], [-6, 8]], np.int8), "weight", WEIGHT)
    g.output("y", tb.quantized_dense(x, weight, scale=0.5, zero_point=1))
    return g


def test_a_layer_predicts_int8() -> None:
    # (3 * 2 + 5 * 4) / 4 = 6.5, to even 6, and (-18 + 40) / 2 = 11; plus 1.
    y = tb.Predictor(layer(), batch=1).predict(np.array([[3, 5]], np.int8))
    assert y.dtype == np.int8
    assert y.tolist() == [[7, 12]]


def test_values_say_what_their_integers_stand_for() -> None:
    g = tb.Graph()
    x = g.input("x", (4,), "i8", tb.Quantization([0.25], [-3]))
    assert x.quantization == tb.Quantization([0.25], [-3])
    assert tb.dequantize(x).quantization is None
    y = tb.quantize(tb.dequantize(x), scale=0.5, zero_point=7, requantization="fixed_point")
    assert (y.dtype, y.quantization) == ("i8", tb.Quantization([0.5], [7]))
    weight = g.parameter("w", (2, 4), dtype="i8", quantization=WEIGHT)
    assert weight.quantization == WEIGHT
    assert (WEIGHT.scales, WEIGHT.zero_points, WEIGHT.axis) == ([0.25, 0.5], [], 0)
    assert repr(WEIGHT) == "Quantization(scales=[0.25, 0.5], zero_points=[], axis=0)"


def test_model_files_keep_scales(tmp_path: pathlib.Path) -> None:
    tb.save_model(layer(), tmp_path / "m.safetensors")
    y = tb.Predictor(tb.load_model(tmp_path / "m.safetensors"), batch=1).predict(
        np.array([[3, 5]], np.int8)
    )
    assert y.tolist() == [[7, 12]]


def test_wrong_quantizations_are_refused() -> None:
    g = tb.Graph()
    with pytest.raises(ValueError, match="above 0"):
        g.input("a", (4,), "i8", tb.Quantization([-1.0]))
    with pytest.raises(ValueError, match="cannot be quantized"):
        g.input("b", (4,), "f32", INPUT)
    with pytest.raises(ValueError, match="at least one"):
        tb.Quantization([])
    with pytest.raises(ValueError, match="quantize it first"):
        tb.requantize(g.input("c", (4,), "i8"), scale=1.0)


def test_mcunet_gives_its_golden_logits() -> None:
    path = pathlib.Path(os.environ.get("THIMBLE_DATA", "")) / "models/mcunet5fps/mcunet5fps_int8.json"
    if not path.exists():
        pytest.skip("set THIMBLE_DATA to a folder with models/mcunet5fps")
    predictor = tb.Predictor(tb.import_quantized_json(path), batch=1)
    golden = json.loads(path.read_text())["golden"][0]
    pixels = np.empty(128 * 128 * 3, np.int8)
    r = golden["lcg_seed"]
    for i in range(pixels.size):
        r = (r * 1664525 + 1013904223) % 2**32
        pixels[i] = np.uint8(r >> 24).view(np.int8)
    logits = predictor.predict(pixels.reshape(1, 128, 128, 3))
    assert logits.tolist() == [golden["logits_int8"]]
