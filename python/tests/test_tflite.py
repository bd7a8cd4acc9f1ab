"""Files of TensorFlow Lite that thimble writes, run by LiteRT: skipped where its wheel (ai-edge-litert) is not installed."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest

import thimble as tb

RANDOM = np.random.default_rng(3)


def classifier(images: np.ndarray) -> tb.Graph:
    g = tb.Graph()
    x = g.input("image", images.shape[1:])
    h = tb.relu6(tb.batch_norm(tb.conv2d(x, channels=6, kernel=3, stride=2, padding=1)))
    h = tb.relu(h + tb.relu(tb.depthwise_conv2d(h, kernel=3, padding=1)))
    h = tb.max_pool2d(h, kernel=2)
    g.output("scores", tb.softmax(tb.dense(tb.dropout(tb.flatten(h)), units=4)))
    return g


def trained(images: np.ndarray, folder: pathlib.Path) -> tb.Graph:
    path = folder / "m.safetensors"
    tb.save_model(classifier(images), path, seed=5)
    return tb.load_model(path)


def images_of(count: int) -> np.ndarray:
    return RANDOM.normal(size=(count, 12, 12, 2)).astype(np.float32)


def run(path: pathlib.Path, x: np.ndarray, resolver: str) -> np.ndarray:
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    interpreter = litert.Interpreter(
        model_path=str(path), experimental_op_resolver_type=getattr(litert.OpResolverType, resolver))
    detail = interpreter.get_input_details()[0]
    assert detail["name"] == "image"
    interpreter.resize_tensor_input(detail["index"], x.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(detail["index"], x)
    interpreter.invoke()
    output = interpreter.get_output_details()[0]
    assert output["name"] == "scores"
    made: np.ndarray = interpreter.get_tensor(output["index"])
    return made


def test_float_models_come_back(tmp_path: pathlib.Path) -> None:
    images = images_of(3)
    graph = trained(images, tmp_path)
    for name in ("m.tflite", "m.circle"):
        tb.export_tflite(graph, tmp_path / name)
        again = tb.import_model(tmp_path / name)
        expected = tb.Predictor(graph, batch=3).predict(images)
        got = tb.Predictor(again, batch=3).predict(images)
        np.testing.assert_allclose(got, expected, atol=1e-6)


@pytest.mark.parametrize("resolver", ["BUILTIN_REF", "AUTO"])
def test_litert_runs_float_models_with_equal_results(tmp_path: pathlib.Path, resolver: str) -> None:
    images = images_of(3)
    graph = trained(images, tmp_path)
    tb.export_tflite(graph, tmp_path / "m.tflite")
    expected = tb.Predictor(graph, batch=3).predict(images)
    np.testing.assert_allclose(run(tmp_path / "m.tflite", images, resolver), expected, atol=1e-6)


def test_litert_runs_attention(tmp_path: pathlib.Path) -> None:
    g = tb.Graph()
    x = g.input("image", (5, 8))
    g.output("scores", tb.dense(tb.layer_norm(x + tb.multi_head_attention(x, heads=2, causal=True)), units=3))
    tb.save_model(g, tmp_path / "m.safetensors", seed=5)
    graph = tb.load_model(tmp_path / "m.safetensors")
    tb.export_tflite(graph, tmp_path / "m.tflite")
    rows = RANDOM.normal(size=(3, 5, 8)).astype(np.float32)
    expected = tb.Predictor(graph, batch=3).predict(rows)
    np.testing.assert_allclose(run(tmp_path / "m.tflite", rows, "AUTO"), expected, atol=2e-6)


def run_named(path: pathlib.Path, inputs: dict[str, np.ndarray], resolver: str) -> dict[str, np.ndarray]:
    """All outputs of a file with several inputs, by name."""
    litert = pytest.importorskip("ai_edge_litert.interpreter")
    interpreter = litert.Interpreter(
        model_path=str(path), experimental_op_resolver_type=getattr(litert.OpResolverType, resolver))
    details = {detail["name"]: detail["index"] for detail in interpreter.get_input_details()}
    assert set(details) == set(inputs)
    for name, index in details.items():
        interpreter.resize_tensor_input(index, inputs[name].shape)
    interpreter.allocate_tensors()
    for name, index in details.items():
        interpreter.set_tensor(index, inputs[name])
    interpreter.invoke()
    return {detail["name"]: interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()}


def expect_equal_in_litert(graph: tb.Graph, inputs: dict[str, np.ndarray], path: pathlib.Path, tolerance: float) -> None:
    tb.export_tflite(graph, path)
    batch = len(next(iter(inputs.values())))
    again = tb.import_tflite(path)
    for resolver in ("BUILTIN_REF", "AUTO"):
        found = run_named(path, inputs, resolver)
        for name, theirs in found.items():
            expected = tb.Predictor(graph, batch=batch).predict(inputs, name)
            np.testing.assert_allclose(theirs, expected, atol=tolerance, rtol=1e-5)
            np.testing.assert_allclose(
                tb.Predictor(again, batch=batch).predict(inputs, name), expected, atol=tolerance, rtol=1e-5)


@pytest.mark.parametrize("keys", [4, 2, 1])
def test_litert_runs_llama(tmp_path: pathlib.Path, keys: int) -> None:
    """The form of LLaMA: rotary positions, RMS norms, heads that share keys, a gated layer."""
    config = dict(model_type="llama", vocab_size=31, hidden_size=16, intermediate_size=24, num_hidden_layers=2,
                  num_attention_heads=4, num_key_value_heads=keys, max_position_embeddings=32, rms_norm_eps=1e-5)
    (tmp_path / "config.json").write_text(json.dumps(config))
    shapes = {"model.embed_tokens": (31, 16), "lm_head": (31, 16), "model.norm": (16,)}
    for layer in range(2):
        at = f"model.layers.{layer}."
        shapes |= {f"{at}self_attn.{name}_proj": (size, 16) for name, size in
                   {"q": 16, "k": 4 * keys, "v": 4 * keys, "o": 16}.items()}
        shapes |= {f"{at}mlp.gate_proj": (24, 16), f"{at}mlp.up_proj": (24, 16), f"{at}mlp.down_proj": (16, 24),
                   f"{at}input_layernorm": (16,), f"{at}post_attention_layernorm": (16,)}
    weights = {f"{name}.weight": RANDOM.normal(scale=0.4, size=shape).astype(np.float32) for name, shape in shapes.items()}
    tb.save_safetensors(tmp_path / "model.safetensors", weights)
    graph = tb.import_hugging_face(tmp_path, tokens=9)
    ids = RANDOM.integers(0, 31, (3, 9)).astype(np.int32)
    expect_equal_in_litert(graph, {"input_ids": ids}, tmp_path / "m.tflite", 1e-5)


@pytest.mark.parametrize("settings", [{}, {"interleaved": True}, {"width": 4}, {"interleaved": True, "width": 4, "offset": 3}])
def test_litert_turns_pairs(tmp_path: pathlib.Path, settings: dict[str, Any]) -> None:
    g = tb.Graph()
    g.output("heads", tb.rotary_embedding(g.input("x", (5, 3, 8)), **settings))
    g.output("rows", tb.rotary_embedding(g.input("y", (5, 6)), **settings))
    inputs = {"x": RANDOM.normal(size=(2, 5, 3, 8)).astype(np.float32), "y": RANDOM.normal(size=(2, 5, 6)).astype(np.float32)}
    expect_equal_in_litert(g, inputs, tmp_path / "m.tflite", 1e-6)


def test_litert_removes_noise(tmp_path: pathlib.Path) -> None:
    recipe = tb.recipes.unet_ddpm()
    trainer = recipe.trainer(batch=1, threads=2)
    # Layers that begin with zeros would leave nothing to compare.
    trainer.load_state_dict({name: RANDOM.normal(scale=0.08, size=value.shape).astype(np.float32) + ("norm.weight" in name)
                             for name, value in trainer.state_dict().items()})
    graph = recipe.denoiser(trainer)
    for time, told in ((3, 1), (870, 0)):  # one by one: TRANSPOSE_CONV holds the batch as a number
        inputs = {"x": RANDOM.normal(size=(1, 32, 32, 1)).astype(np.float32), "time": np.array([time], np.int32),
                  "digit": np.array([4], np.int32), "told": np.array([[told]], np.float32)}
        expect_equal_in_litert(graph, inputs, tmp_path / "m.tflite", 2e-5)
        assert np.ptp(tb.Predictor(graph, batch=1).predict(inputs)) > 0.1
    with pytest.raises(RuntimeError, match="such files draw no random numbers"):
        tb.export_tflite(trainer, tmp_path / "m.tflite")
    with pytest.raises(ValueError, match="no denoiser"):
        tb.recipes.vae().denoiser()


@pytest.mark.parametrize("kind", ["lstm", "gru", "rnn"])
def test_recurrent_layers_are_written_step_by_step(tmp_path: pathlib.Path, kind: str) -> None:
    g = tb.Graph()
    x = g.input("image", (40, 8))
    layer = {"lstm": tb.lstm, "gru": tb.gru, "rnn": tb.rnn}[kind]
    first = layer(x, units=6, bidirectional=True)
    # The second one begins with the states in which the first one ends.
    states = [tb.reshape(tb.slice(s, axes=[1], starts=[0], stops=[1]), (-1, 1, 6)) for s in first[1:]]
    second = layer(first[0], *states, units=6)
    g.output("scores", tb.dense(tb.concat([tb.flatten(y) for y in second], axis=1), units=3))
    tb.save_model(g, tmp_path / "m.safetensors", seed=5)
    graph = tb.load_model(tmp_path / "m.safetensors")
    tb.export_tflite(graph, tmp_path / "m.tflite")
    rows = RANDOM.normal(size=(3, 40, 8)).astype(np.float32)
    expected = tb.Predictor(graph, batch=3).predict(rows)
    again = tb.Predictor(tb.import_tflite(tmp_path / "m.tflite"), batch=3)
    np.testing.assert_allclose(again.predict(rows), expected, atol=2e-6)
    for _ in range(2):  # nothing is kept from one run to the next
        np.testing.assert_allclose(run(tmp_path / "m.tflite", rows, "AUTO"), expected, atol=2e-6)


def sequence_lstm(features: int, units: int, **options: object) -> bytes:
    """A file of one UNIDIRECTIONAL_SEQUENCE_LSTM over sequences of 5 steps, with random weights."""
    schema = pytest.importorskip("ai_edge_litert.schema_py_generated")
    flatbuffers = pytest.importorskip("flatbuffers")
    graph = schema.SubGraphT()
    graph.tensors, buffers = [], [schema.BufferT()]

    def tensor(shape: tuple[int, ...], data: np.ndarray | None = None, name: str = "", variable: bool = False) -> int:
        made = schema.TensorT()
        made.shape, made.type, made.name, made.isVariable = list(shape), schema.TensorType.FLOAT32, name, variable
        buffer = schema.BufferT()
        if data is not None:
            buffer.data = np.frombuffer(data.astype(np.float32).tobytes(), np.uint8)
        buffers.append(buffer)
        made.buffer = len(buffers) - 1
        graph.tensors.append(made)
        return len(graph.tensors) - 1

    def weights(*shape: int) -> int:
        return tensor(shape, RANDOM.normal(size=shape))

    x = tensor((3, 5, features), name="image")
    inputs = [x, *(weights(units, features) for _ in range(4)), *(weights(units, units) for _ in range(4)), -1, -1, -1,
              *(weights(units) for _ in range(4)), -1, -1, *(tensor((3, units), variable=True) for _ in range(2))]
    y = tensor((3, 5, units), name="scores")
    operator, code, model = schema.OperatorT(), schema.OperatorCodeT(), schema.ModelT()
    code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.UNIDIRECTIONAL_SEQUENCE_LSTM
    operator.inputs, operator.outputs = inputs, [y]
    operator.builtinOptionsType = schema.BuiltinOptions.UnidirectionalSequenceLSTMOptions
    operator.builtinOptions = schema.UnidirectionalSequenceLSTMOptionsT()
    operator.builtinOptions.fusedActivationFunction = schema.ActivationFunctionType.TANH
    for name, value in options.items():
        setattr(operator.builtinOptions, name, value)
    graph.inputs, graph.outputs, graph.operators = [x], [y], [operator]
    model.version, model.operatorCodes, model.subgraphs, model.buffers = 3, [code], [graph], buffers
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def test_lstms_of_litert_are_read_and_trained(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(sequence_lstm(4, 6))
    graph = tb.import_tflite(path)
    rows = RANDOM.normal(size=(3, 5, 4)).astype(np.float32)
    predictor = tb.Predictor(graph, batch=3)
    np.testing.assert_allclose(predictor.predict(rows), run(path, rows, "AUTO"), atol=2e-6)
    for gate in ("input", "forget", "cell", "output"):
        assert graph.freeze(f"lstm_1.*_{gate}") == 3
    for name, value, message in [("timeMajor", True, "batch before the steps"), ("cellClip", 2.0, "limits of cells")]:
        path.write_bytes(sequence_lstm(4, 6, **{name: value}))
        with pytest.raises(RuntimeError, match=message):
            tb.import_tflite(path)


def test_litert_runs_int8_models_with_equal_bits(tmp_path: pathlib.Path) -> None:
    images = images_of(64)
    made = tb.quantize_model(
        trained(images, tmp_path), images, requantization="fixed_point", int8_inputs=True, int8_outputs=True)
    tb.export_tflite(made.graph, tmp_path / "m.tflite")
    x = RANDOM.integers(-128, 128, (8, 12, 12, 2)).astype(np.int8)
    expected = tb.Predictor(made.graph, batch=8).predict(x)
    # Dense layers follow the integer rule, as the kernels without delegate do that are not the reference ones.
    got = run(tmp_path / "m.tflite", x, "BUILTIN_WITHOUT_DEFAULT_DELEGATES")
    assert got.dtype == np.int8
    assert np.array_equal(got, expected)


def test_what_cannot_be_written_is_named(tmp_path: pathlib.Path) -> None:
    g = tb.Graph()
    g.output("y", tb.erf(g.input("x", (3,))))
    with pytest.raises(RuntimeError, match="the op erf"):
        tb.export_tflite(g, tmp_path / "none" / "m.tflite")
    with pytest.raises(RuntimeError, match="the op erf"):
        tb.export_tflite(g, tmp_path / "m.tflite")
    with pytest.raises(TypeError, match="thimble.Trainer or thimble.Graph"):
        tb.export_tflite("m", tmp_path / "m.tflite")  # type: ignore[arg-type]
    (tmp_path / "no.tflite").write_bytes(b"\x1c\0\0\0TFL3")
    with pytest.raises(RuntimeError, match="damaged"):
        tb.import_tflite(tmp_path / "no.tflite")
    with pytest.raises(FileNotFoundError):
        tb.import_model(tmp_path / "none")
