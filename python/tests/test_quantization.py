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


def classifier() -> tb.Graph:
    g = tb.Graph()
    image, kind = g.input("image", (8, 8, 1)), g.label("kind")
    h = tb.relu(tb.batch_norm(tb.conv2d(image, channels=6, kernel=3, padding=1, name="conv")))
    logits = tb.dense(tb.flatten(tb.max_pool2d(h, kernel=2)), units=2, name="dense")
    g.minimize(tb.softmax_cross_entropy(logits, kind))
    g.metric("accuracy", tb.accuracy(logits, kind))
    g.output("logits", logits)
    return g


def bars(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Noisy images with a horizontal (0) or vertical (1) bar."""
    random = np.random.default_rng(5)
    images = random.normal(0, 0.2, (count, 8, 8, 1)).astype(np.float32)
    kinds = np.arange(count, dtype=np.int32) % 2
    for image, kind, place in zip(images, kinds, random.integers(0, 8, count)):
        (image if kind == 0 else image.transpose(1, 0, 2))[place] += 1
    return images, kinds


def test_a_trained_model_is_quantized(tmp_path: pathlib.Path) -> None:
    images, kinds = bars(200)
    trainer = tb.Trainer(classifier(), optimizer=tb.Adam(lr=0.01), batch=20, seed=1)
    trainer.fit((images, kinds), epochs=4)
    made = tb.quantize_model(trainer, images, calibration="mse", samples=100)
    assert [(layer.name, layer.op) for layer in made.layers] == [
        ("conv", "quantized_conv2d"),
        ("max_pool2d_1", "max_pool2d"),
        ("dense", "quantized_dense"),
    ]
    assert made.float_layers == []
    assert all(layer.sqnr_db > 20 for layer in made.layers)
    wanted = trainer.predict(images)
    got = tb.Predictor(made.graph).predict(images)
    assert np.mean(wanted.argmax(1) == got.argmax(1)) > 0.98
    assert 0 < np.abs(wanted - got).max() < 10 * made.layers[-1].scale
    tb.save_model(made.graph, tmp_path / "int8.safetensors")
    again = tb.Predictor(tb.load_model(tmp_path / "int8.safetensors")).predict(images)
    assert np.array_equal(got, again)


def test_a_model_is_quantized_with_int8_at_both_ends(tmp_path: pathlib.Path) -> None:
    images, _ = bars(20)
    tb.save_model(classifier(), tmp_path / "m.safetensors")
    graph = tb.load_model(tmp_path / "m.safetensors")
    made = tb.quantize_model(
        graph, {"image": images}, requantization="fixed_point", int8_inputs=True, int8_outputs=True
    )
    x = np.zeros((3, 8, 8, 1), np.int8)
    assert tb.Predictor(made.graph).predict(x).dtype == np.int8


def test_a_model_is_trained_for_few_bits(tmp_path: pathlib.Path) -> None:
    images, kinds = bars(200)
    trainer = tb.Trainer(classifier(), optimizer=tb.Adam(lr=0.01), batch=20, seed=1)
    trainer.fit((images, kinds), epochs=4)
    prepared = tb.prepare_qat(trainer, images, weight_bits=2, samples=100)
    assert prepared.float_layers == []
    qat = tb.Trainer(prepared.graph, optimizer=tb.SGD(lr=0.005, momentum=0.9), batch=20, seed=1)
    before = qat.evaluate((images, kinds)).loss
    qat.fit((images, kinds), epochs=4)
    assert qat.evaluate((images, kinds)).loss < before
    scale = qat.state_dict()["conv.weight.scale"]
    assert scale.shape == (6,)
    assert np.any(scale != 1)
    made = tb.quantize_model(qat, images)
    assert made.float_layers == []
    wanted = qat.predict(images)
    got = tb.Predictor(made.graph).predict(images)
    assert np.mean(wanted == got) > 0.95
    assert np.abs(wanted - got).max() < 1.5 * made.layers[-1].scale
    tb.save_model(prepared.graph, tmp_path / "qat.safetensors")
    assert np.array_equal(
        tb.Predictor(tb.load_model(tmp_path / "qat.safetensors")).predict(images),
        tb.Predictor(prepared.graph).predict(images),
    )
    with pytest.raises(ValueError, match="expected 2 to 8, got 1"):
        tb.prepare_qat(trainer, images, weight_bits=1)
    with pytest.raises(ValueError, match="prepared already"):
        tb.prepare_qat(prepared.graph, images)
    with pytest.raises(TypeError, match="model must be"):
        tb.prepare_qat("m.safetensors", images)


def test_models_that_cannot_be_quantized_are_refused(tmp_path: pathlib.Path) -> None:
    images, _ = bars(4)
    g = classifier()
    with pytest.raises(ValueError, match="no values"):
        tb.quantize_model(g, images)
    tb.save_model(g, tmp_path / "m.safetensors")
    graph = tb.load_model(tmp_path / "m.safetensors")
    with pytest.raises(ValueError, match="expected one of minmax, percentile, mse"):
        tb.quantize_model(graph, images, calibration="best")
    with pytest.raises(ValueError, match="quantized already"):
        tb.quantize_model(tb.quantize_model(graph, images).graph, images)
    with pytest.raises(TypeError, match="model must be"):
        tb.quantize_model("m.safetensors", images)
    with pytest.raises(ValueError, match=r"expected \[N, 8, 8, 1\]"):
        tb.quantize_model(graph, images[..., 0])


def test_an_int8_model_is_adapted_to_other_classes() -> None:
    images, kinds = bars(256)
    trainer = tb.Trainer(classifier(), optimizer=tb.Adam(lr=0.01), batch=16, seed=1)
    trainer.fit({"image": images, "kind": kinds}, epochs=2)
    int8 = tb.quantize_model(trainer, images, int8_inputs=True, int8_outputs=True).graph
    graph = tb.adapt(
        int8,
        loss="softmax_cross_entropy",
        label="place",
        metrics=["accuracy"],
        classes=3,
        f32_inputs=True,
        trainable=["*"],
    )
    data = {"image": images, "place": np.where(images.sum((1, 2, 3)) > 8, 2, kinds)}
    adapted = tb.Trainer(graph, optimizer=tb.SGD(lr=0.05), batch=16)
    before = adapted.evaluate(data).loss
    adapted.fit(data, epochs=3)
    assert adapted.evaluate(data).loss < before
    with pytest.raises(ValueError, match="there is no loss"):
        tb.adapt(int8, loss="nothing")
    with pytest.raises(TypeError, match="list of strings"):
        tb.adapt(int8, loss="mse", metrics="accuracy")


def test_weights_may_change_between_predictions() -> None:
    g = tb.Graph()
    x = g.input("x", (2,), "i8", INPUT)
    weight = g.parameter("w", (2, 2), dtype="i8", quantization=WEIGHT)
    g.output("y", tb.quantized_dense(x, weight, scale=0.5, zero_point=1))
    given = np.array([[3, 5]], np.int8)
    first, second = np.array([[2, 4], [-6, 8]], np.int8), np.array([[0, 4], [0, 8]], np.int8)
    predictor = tb.Predictor(g, {"w": first}, batch=1)
    assert predictor.predict(given).tolist() == [[7, 12]]
    view = predictor.parameters["w"]
    assert predictor.predict(given).tolist() == [[7, 12]]
    view[...] = second
    assert predictor.predict(given).tolist() == [[6, 21]]
    view[...] = first
    del view
    assert predictor.predict(given).tolist() == [[7, 12]]
    predictor.load_state_dict({"w": second})
    assert predictor.predict({"x": given}).tolist() == [[6, 21]]
    assert predictor.predict(np.repeat(given, 3, axis=0)).tolist() == [[6, 21]] * 3
    assert predictor.predict(given[:, ::-1]).tolist() == [[4, 13]]


def test_arrays_keep_their_predictor() -> None:
    predictor = tb.Predictor(layer_with_parameters(), {"w": np.array([[2, 4]], np.int8)}, batch=1)
    view = predictor.parameters["w"]
    del predictor
    assert view.tolist() == [[2, 4]]


def layer_with_parameters() -> tb.Graph:
    g = tb.Graph()
    weight = g.parameter("w", (1, 2), dtype="i8", quantization=INPUT)
    g.output("y", tb.quantized_dense(g.input("x", (2,), "i8", INPUT), weight, scale=0.5))
    return g
