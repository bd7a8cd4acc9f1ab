"""Networks on int8. Models that onnxruntime's static quantizer makes, read by thimble: rounded in f32, and on int8. Those
that thimble makes, run by onnxruntime."""
import itertools
import logging
import pathlib
import tempfile
from collections.abc import Iterator

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

import thimble as tb
from cases import Array

# The last results of both forms, uint8 and int8, with scales of channels and of tensors.
FORMS = list(itertools.product(QuantFormat, (QuantType.QUInt8, QuantType.QInt8), (True, False)))


def _model(path: pathlib.Path) -> None:
    """Layers of every operator that the quantizer has a form on integers for."""
    random = np.random.default_rng(1)
    constants = [numpy_helper.from_array(np.float32(0.0), "low"), numpy_helper.from_array(np.float32(6.0), "high")]

    def weight(name: str, *shape: int) -> str:
        values = random.normal(size=shape) / np.sqrt(max(1, int(np.prod(shape[1:]))))
        constants.append(numpy_helper.from_array(values.astype(np.float32), name))
        return name

    node = helper.make_node
    nodes = [
        node("Conv", ["x", weight("w1", 8, 3, 3, 3), weight("b1", 8)], ["c1"], pads=[1, 1, 1, 1]),
        node("Relu", ["c1"], ["r1"]),
        node("Conv", ["r1", weight("w2", 8, 1, 3, 3), weight("b2", 8)], ["c2"], pads=[1, 1, 1, 1], group=8),
        node("Clip", ["c2", "low", "high"], ["r2"]),
        node("Add", ["r1", "r2"], ["sum"]),
        node("MaxPool", ["sum"], ["pooled"], kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", ["pooled", weight("w3", 4, 8, 1, 1)], ["c3"]),
        node("LeakyRelu", ["c3"], ["leaky"], alpha=0.1),
        node("Sigmoid", ["c3"], ["gate"]),
        node("Mul", ["leaky", "gate"], ["gated"]),
        node("Concat", ["gated", "leaky"], ["wide"], axis=1),
        node("GlobalAveragePool", ["wide"], ["mean"]),
        node("Flatten", ["mean"], ["features"]),
        node("Gemm", ["features", weight("w4", 6, 8), weight("b4", 6)], ["hidden"], transB=1),
        node("MatMul", ["hidden", weight("w5", 6, 5)], ["y"]),
    ]
    shapes = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", *size])
              for name, size in (("x", (3, 8, 8)), ("y", (5,)))]
    graph = helper.make_graph(nodes, "model", shapes[:1], shapes[1:], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)


class _Samples(CalibrationDataReader):  # type: ignore[misc]
    def __init__(self, x: Array) -> None:
        self.batches: Iterator[Array] = iter(np.split(x, 4))

    def get_next(self) -> dict[str, Array] | None:
        batch = next(self.batches, None)
        return None if batch is None else {"x": batch}


def _check(file: pathlib.Path, x: Array) -> None:
    """Raises AssertionError where results differ by more than a step of their scale."""
    model = onnx.load(file)
    last = next(node for node in model.graph.node if node.output[0] == "y")
    constants = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
    step = float(constants[last.input[1]]) * 1.001
    theirs = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"]).run(None, {"x": x})[0]
    images = np.ascontiguousarray(np.transpose(x, (0, 2, 3, 1)))
    graph = tb.import_onnx(file)
    made = tb.quantize_model(graph, {"x": images})
    assert [layer.op for layer in made.float_layers] == ["leaky_relu"], made.float_layers  # has no form on int8
    for name, ours in (("f32", graph), ("int8", made.graph)):
        y = tb.Predictor(ours, batch=len(x)).predict({"x": images})
        np.testing.assert_allclose(y, theirs, 0.0, step, err_msg=name)


def _own() -> tb.Graph:
    """A network of every op on int8 that is written."""
    graph = tb.Graph()
    x = tb.relu(tb.conv2d(graph.input("x", (8, 8, 3)), channels=4, kernel=3, padding=1))
    x = x + tb.relu6(tb.conv2d(x, channels=4, kernel=3, padding=1, groups=2))
    x = tb.pad(x, before=[0, 1, 0, 0], after=[0, 1, 2, 0])
    x = tb.max_pool2d(tb.depthwise_conv2d(x, kernel=3, stride=2, padding=1))
    x = tb.concat([x * tb.sigmoid(x), tb.tanh(x) - x], axis=-1)
    hidden = tb.dense(tb.flatten(tb.average_pool2d(x, kernel=2)), units=5)
    graph.output("scores", tb.softmax(tb.dense(hidden, units=3)))
    graph.output("means", tb.mean(x, axes=[1, 2]))
    graph.output("wide", tb.conv_transpose2d(x, channels=2, kernel=3, stride=2))
    return graph


def _check_own(folder: pathlib.Path, x: Array, int8: bool) -> None:
    """Raises AssertionError where results differ, of softmax by more than a step."""
    tb.save_model(_own(), folder / "own.safetensors", seed=5)
    images = np.ascontiguousarray(np.transpose(x, (0, 2, 3, 1)))
    made = tb.quantize_model(tb.load_model(folder / "own.safetensors"), {"x": images},
                             int8_inputs=int8, int8_outputs=int8)
    tb.export_onnx(made.graph, folder / "own.onnx")
    onnx.checker.check_model(str(folder / "own.onnx"), full_check=True)
    session = onnxruntime.InferenceSession(str(folder / "own.onnx"), providers=["CPUExecutionProvider"])
    given = np.random.default_rng(4).integers(-128, 128, images.shape).astype(np.int8) if int8 else images
    ours = tb.Predictor(made.graph, batch=len(x)).predict({"x": given})
    for (name, y), theirs in zip(ours.items(), session.run(None, {"x": given}), strict=True):
        # Softmax on int8 is computed in integers by thimble alone: a step of 1/256 is its rounding.
        step = 0.0 if name != "scores" else 1.0 if int8 else 1.0 / 256.0
        np.testing.assert_allclose(theirs.astype(np.float32), y, 0.0, step, err_msg=name)


def problems(only: list[str]) -> list[str]:
    """What differs, a line each."""
    found = []
    x = np.random.default_rng(2).normal(size=(16, 3, 8, 8)).astype(np.float32)
    logging.getLogger().setLevel(logging.ERROR)  # of the quantizer's advice
    with tempfile.TemporaryDirectory() as folder:
        plain, file = pathlib.Path(folder) / "f32.onnx", pathlib.Path(folder) / "m.onnx"
        _model(plain)
        for form, kind, per_channel in FORMS:
            name = f"read quantized {form.name} {kind.name} {'channels' if per_channel else 'tensors'}"
            if only and not any(part in name for part in only):
                continue
            try:
                quantize_static(plain, file, _Samples(x), quant_format=form, per_channel=per_channel,
                                activation_type=kind, weight_type=QuantType.QInt8)
                _check(file, x)
            except Exception as error:
                found.append(f"{name}: {type(error).__name__}: {' '.join(str(error).split())[:240]}")
        for int8 in (False, True):
            name = f"write quantized with {'int8' if int8 else 'f32'} at the border"
            if only and not any(part in name for part in only):
                continue
            try:
                _check_own(pathlib.Path(folder), x, int8)
            except Exception as error:
                found.append(f"{name}: {type(error).__name__}: {' '.join(str(error).split())[:240]}")
    return found


def count() -> int:
    return len(FORMS) + 2
