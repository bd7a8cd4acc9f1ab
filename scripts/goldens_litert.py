#!/usr/bin/env python3
"""Writes tests/import/litert_goldens.json: int8 results of LiteRT's reference kernels.

Usage: python scripts/goldens_litert.py
Needs NumPy and LiteRT (pip install ai-edge-litert; the file was made with 2.3.0). Deterministic.

Every case is a model of one operator with random contents. The file has the operator's inputs in our
layouts, the attributes of our op, and the interpreter's output.
"""
import json
import pathlib

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

ROOT = pathlib.Path(__file__).resolve().parent.parent
RANDOM = np.random.default_rng(24)
TYPES = {"int8": schema.TensorType.INT8, "int32": schema.TensorType.INT32,
         "float32": schema.TensorType.FLOAT32}
REFERENCE = OpResolverType.BUILTIN_REF
# Dense layers of the reference kernels take double; these follow the integer rule.
INTEGER = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES


class Tensor:
    def __init__(self, shape, scales=(), zero=0, dtype="int8", data=None, axis=0):
        self.shape, self.scales, self.zero = list(shape), list(scales), zero
        self.dtype, self.data, self.axis = dtype, data, axis

    def built(self, buffer):
        made = schema.TensorT()
        made.shape, made.type, made.buffer = self.shape, TYPES[self.dtype], buffer
        if self.scales:
            q = schema.QuantizationParametersT()
            q.scale, q.zeroPoint = self.scales, [self.zero] * len(self.scales)
            q.quantizedDimension = self.axis if len(self.scales) > 1 else 0
            made.quantization = q
        return made


def run(code, options, options_type, inputs, output, resolver):
    """The output of one operator; inputs that have data are constants but the first."""
    model = schema.ModelT()
    model.version = 3
    operator_code = schema.OperatorCodeT()
    operator_code.builtinCode, operator_code.deprecatedBuiltinCode = code, min(code, 127)
    operator_code.version = 3
    model.operatorCodes = [operator_code]
    graph, model.buffers = schema.SubGraphT(), [schema.BufferT()]
    graph.tensors = []
    variable = [i for i, t in enumerate(inputs) if t.dtype == "int8" and not t.fixed]
    for tensor in [*inputs, output]:
        buffer = schema.BufferT()
        if getattr(tensor, "fixed", False):
            buffer.data = np.frombuffer(tensor.data.tobytes(), np.uint8)
        model.buffers.append(buffer)
        graph.tensors.append(tensor.built(len(model.buffers) - 1))
    graph.inputs, graph.outputs = variable, [len(inputs)]
    operator = schema.OperatorT()
    operator.opcodeIndex, operator.inputs, operator.outputs = 0, list(range(len(inputs))), [len(inputs)]
    operator.builtinOptionsType, operator.builtinOptions = options_type, options
    graph.operators = [operator]
    model.subgraphs = [graph]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    interpreter = Interpreter(model_content=bytes(builder.Output()),
                              experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()
    for detail, i in zip(interpreter.get_input_details(), variable):
        interpreter.set_tensor(detail["index"], inputs[i].data)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def number(low, high):
    return float(np.float32(RANDOM.uniform(low, high)))


def image(shape, fixed=False):
    made = Tensor(shape, [number(0.02, 0.2)], int(RANDOM.integers(-60, 60)),
                  data=RANDOM.integers(-128, 128, shape).astype(np.int8))
    made.fixed = fixed
    return made


def weights(shape, channels, axis):
    made = Tensor(shape, [number(0.001, 0.02) for _ in range(channels)], axis=axis,
                  data=RANDOM.integers(-127, 128, shape).astype(np.int8))
    made.fixed = True
    return made


def bias(x, w, channels):
    scales = [float(np.float32(x.scales[0] * s)) for s in w.scales]
    made = Tensor([channels], scales, dtype="int32",
                  data=RANDOM.integers(-5000, 5000, channels).astype(np.int32))
    made.fixed = True
    return made


def indices(values):
    made = Tensor([len(values)], dtype="int32", data=np.array(values, np.int32))
    made.fixed = True
    return made


def result(shape, low=0.1, high=0.6):
    return Tensor(shape, [number(low, high)], int(RANDOM.integers(-40, 40)))


def record(name, op, attrs, inputs, y, quantized=True):
    """inputs: tensors in our layouts, as (tensor, data)."""
    if quantized:
        attrs = {**attrs, "scale": y.scales[0], "zero_point": y.zero}
    return {"name": name, "op": op, "attrs": {**attrs, "requantization": "fixed_point"},
            "inputs": [{"dtype": "i8" if t.dtype == "int8" else "i32", "shape": list(data.shape),
                        "scales": t.scales if t.dtype == "int8" else [], "zero_point": t.zero,
                        "values": data.ravel().tolist()} for t, data in inputs],
            "output": y.data.ravel().tolist(), "shape": list(y.data.shape)}


ACTIVATIONS = {"none": 0, "relu": 1, "relu6": 3}


def convolution(name, x_shape, w_shape, y_shape, stride=1, dilation=1, same=True, activation="none",
                depthwise=False):
    x, y = image(x_shape), result(y_shape)
    channels = y_shape[3]
    w = weights(w_shape, channels, 3 if depthwise else 0)
    b = bias(x, w, channels)
    options = schema.DepthwiseConv2DOptionsT() if depthwise else schema.Conv2DOptionsT()
    options.padding, options.strideH, options.strideW = 0 if same else 1, stride, stride
    options.dilationHFactor = options.dilationWFactor = dilation
    options.fusedActivationFunction = ACTIVATIONS[activation]
    if depthwise:
        options.depthMultiplier = channels // x_shape[3]
    kind = schema.BuiltinOptions
    y.data = run(4 if depthwise else 3, options,
                 kind.DepthwiseConv2DOptions if depthwise else kind.Conv2DOptions, [x, w, b], y, REFERENCE)
    ours = w.data.transpose(3, 1, 2, 0) if depthwise else w.data
    return record(name, "quantized_conv2d",
                  {"stride": stride, "padding": "same" if same else [0, 0, 0, 0], "dilation": dilation,
                   "groups": x_shape[3] if depthwise else 1, "activation": activation},
                  [(x, x.data), (w, ours), (b, b.data)], y)


def transposed(name, x_shape, w_shape, y_shape, stride, padding):
    x, w, y = image(x_shape), weights(w_shape, 1, 0), result(y_shape)
    b = bias(x, w, w_shape[0])
    options = schema.TransposeConvOptionsT()
    options.padding, options.strideH, options.strideW = 0 if any(padding) else 1, stride, stride
    y.data = run(67, options, schema.BuiltinOptions.TransposeConvOptions,
                 [indices(y_shape), w, x, b], y, REFERENCE)
    return record(name, "quantized_conv_transpose2d", {"stride": stride, "padding": padding},
                  [(x, x.data), (w, w.data.transpose(3, 1, 2, 0)), (b, b.data)], y)


def dense(name, rows, features, units, activation="none"):
    x, w, y = image([rows, features]), weights([units, features], 1, 0), result([rows, units])
    b = bias(x, w, units)
    options = schema.FullyConnectedOptionsT()
    options.fusedActivationFunction = ACTIVATIONS[activation]
    y.data = run(9, options, schema.BuiltinOptions.FullyConnectedOptions, [x, w, b], y, INTEGER)
    return record(name, "quantized_dense", {"activation": activation},
                  [(x, x.data), (w, w.data), (b, b.data)], y)


def pair(name, code, op, options, options_type, a_shape, b_shape, activation="none"):
    a, b = image(a_shape), image(b_shape)
    y = result(np.broadcast_shapes(a_shape, b_shape))
    options.fusedActivationFunction = ACTIVATIONS[activation]
    y.data = run(code, options, options_type, [a, b], y, REFERENCE)
    return record(name, op, {"activation": activation}, [(a, a.data), (b, b.data)], y)


def addition(name, *shapes, activation="none"):
    return pair(name, 0, "quantized_add", schema.AddOptionsT(), schema.BuiltinOptions.AddOptions,
                *shapes, activation)


def product(name, *shapes, activation="none"):
    return pair(name, 18, "quantized_mul", schema.MulOptionsT(), schema.BuiltinOptions.MulOptions,
                *shapes, activation)


def average_pool(name, x_shape, y_shape, kernel, stride, same):
    x = image(x_shape)
    y = Tensor(y_shape, x.scales, x.zero)
    options = schema.Pool2DOptionsT()
    options.padding, options.strideH, options.strideW = 0 if same else 1, stride, stride
    options.filterHeight = options.filterWidth = kernel
    y.data = run(1, options, schema.BuiltinOptions.Pool2DOptions, [x], y, REFERENCE)
    return record(name, "quantized_average_pool2d",
                  {"kernel": kernel, "stride": stride, "padding": "same" if same else [0, 0, 0, 0],
                   "count_include_pad": False}, [(x, x.data)], y, quantized=False)


def requantization(name, factor):
    x = image([3, 50])
    y = Tensor([3, 50], [float(np.float32(x.scales[0] * factor))], 7)
    y.data = run(114, schema.QuantizeOptionsT(), schema.BuiltinOptions.QuantizeOptions, [x], y, REFERENCE)
    return record(name, "requantize", {}, [(x, x.data)], y)


def softmax(name, shape, scale):
    x, y = image(shape), Tensor(shape, [1 / 256], -128)
    x.scales = [float(np.float32(scale))]
    options = schema.SoftmaxOptionsT()
    options.beta = 1.0
    y.data = run(25, options, schema.BuiltinOptions.SoftmaxOptions, [x], y, REFERENCE)
    made = record(name, "softmax", {}, [(x, x.data)], y, quantized=False)
    del made["attrs"]["requantization"]
    return made


def resized(name, x_shape, size, align_corners=False, mode="bilinear"):
    x = image(x_shape)
    y = Tensor([x_shape[0], *size, x_shape[3]], x.scales, x.zero)
    linear = mode == "bilinear"
    options = schema.ResizeBilinearOptionsT() if linear else schema.ResizeNearestNeighborOptionsT()
    options.alignCorners = align_corners
    options.halfPixelCenters = not align_corners and mode != "nearest"
    kinds = schema.BuiltinOptions
    kind = kinds.ResizeBilinearOptions if linear else kinds.ResizeNearestNeighborOptions
    y.data = run(23 if linear else 97, options, kind, [x, indices(size)], y, REFERENCE)
    made = record(name, "upsample2d", {"size": size, "mode": mode, "align_corners": align_corners},
                  [(x, x.data)], y, quantized=False)
    del made["attrs"]["requantization"]
    return made


def plain(made):
    """A record of an op without conventions."""
    del made["attrs"]["requantization"]
    return made


def max_pool(name, x_shape, y_shape, kernel, stride, same):
    x = image(x_shape)
    y = Tensor(y_shape, x.scales, x.zero)
    options = schema.Pool2DOptionsT()
    options.padding, options.strideH, options.strideW = 0 if same else 1, stride, stride
    options.filterHeight = options.filterWidth = kernel
    y.data = run(17, options, schema.BuiltinOptions.Pool2DOptions, [x], y, REFERENCE)
    return plain(record(name, "max_pool2d",
                        {"kernel": kernel, "stride": stride, "padding": "same" if same else [0, 0, 0, 0]},
                        [(x, x.data)], y, quantized=False))


def padded(name, x_shape, before, after):
    x = image(x_shape)
    y = Tensor([b + n + a for b, n, a in zip(before, x_shape, after)], x.scales, x.zero)
    rows = Tensor([len(before), 2], dtype="int32", data=np.array([before, after], np.int32).T.copy())
    rows.fixed = True
    y.data = run(34, schema.PadOptionsT(), schema.BuiltinOptions.PadOptions, [x, rows], y, REFERENCE)
    return plain(record(name, "pad", {"before": before, "after": after}, [(x, x.data)], y, quantized=False))


def joined(name, a_shape, b_shape, axis):
    a, b = image(a_shape), image(b_shape)
    b.scales, b.zero = a.scales, a.zero
    shape = list(a_shape)
    shape[axis] += b_shape[axis]
    y = Tensor(shape, a.scales, a.zero)
    options = schema.ConcatenationOptionsT()
    options.axis = axis
    y.data = run(2, options, schema.BuiltinOptions.ConcatenationOptions, [a, b], y, REFERENCE)
    return plain(record(name, "concat", {"axis": axis}, [(a, a.data), (b, b.data)], y, quantized=False))


def mean(name, x_shape, axes, y_shape, keep=False, scale=(0.005, 0.3)):
    x, y = image(x_shape), result(y_shape, *scale)
    options = schema.ReducerOptionsT()
    options.keepDims = keep
    y.data = run(40, options, schema.BuiltinOptions.ReducerOptions, [x, indices(axes)], y, REFERENCE)
    return record(name, "quantized_mean", {"axes": axes, "keepdims": keep}, [(x, x.data)], y)


def cases():
    yield convolution("conv", [1, 5, 6, 3], [4, 3, 3, 3], [1, 5, 6, 4])
    yield convolution("conv_stride_2", [2, 7, 6, 3], [5, 3, 3, 3], [2, 4, 3, 5], stride=2)
    yield convolution("conv_valid_relu6", [1, 6, 5, 2], [3, 2, 2, 2], [1, 5, 4, 3], same=False,
                      activation="relu6")
    yield convolution("conv_dilated_relu", [1, 7, 7, 2], [4, 3, 3, 2], [1, 7, 7, 4], dilation=2,
                      activation="relu")
    yield convolution("conv_one_by_one", [1, 4, 4, 17], [19, 1, 1, 17], [1, 4, 4, 19])
    yield convolution("depthwise", [1, 6, 5, 7], [1, 3, 3, 7], [1, 6, 5, 7], depthwise=True)
    yield convolution("depthwise_stride_2_relu", [1, 7, 8, 18], [1, 3, 3, 18], [1, 4, 4, 18], stride=2,
                      activation="relu", depthwise=True)
    yield convolution("depthwise_multiplier", [1, 5, 5, 3], [1, 3, 3, 6], [1, 5, 5, 6], depthwise=True)
    yield convolution("depthwise_kernel_5", [1, 6, 6, 16], [1, 5, 5, 16], [1, 6, 6, 16], depthwise=True)
    yield transposed("transposed", [1, 3, 4, 3], [2, 2, 2, 3], [1, 6, 8, 2], 2, [0, 0, 0, 0])
    yield transposed("transposed_overlapping", [1, 3, 3, 4], [3, 3, 3, 4], [1, 6, 6, 3], 2, [0, 1, 0, 1])
    yield dense("dense", 2, 30, 11)
    yield dense("dense_relu", 1, 64, 40, "relu")
    yield addition("add", [1, 4, 5, 6], [1, 4, 5, 6])
    yield addition("add_relu", [3, 40], [3, 40], activation="relu")
    yield addition("add_broadcast", [1, 4, 5, 6], [1, 1, 1, 6])
    yield product("mul", [1, 4, 5, 6], [1, 4, 5, 6])
    yield product("mul_relu6", [3, 40], [3, 40], activation="relu6")
    yield product("mul_broadcast", [1, 4, 5, 6], [1, 1, 1, 6])
    yield average_pool("average_pool", [1, 6, 6, 5], [1, 3, 3, 5], 2, 2, same=False)
    yield average_pool("average_pool_of_a_part_of_the_window", [1, 5, 5, 4], [1, 3, 3, 4], 3, 2, same=True)
    yield requantization("requantize_finer", 0.37)
    yield requantization("requantize_coarser", 2.9)
    yield softmax("softmax", [2, 10], 0.11)
    yield softmax("softmax_of_a_small_scale", [3, 40], 0.003)
    yield softmax("softmax_of_a_large_scale", [3, 7], 1.9)
    yield softmax("softmax_of_many", [1, 700], 0.05)
    yield resized("bilinear", [1, 4, 5, 3], [8, 10])
    yield resized("bilinear_smaller", [2, 7, 6, 2], [3, 5])
    yield resized("bilinear_corners", [1, 4, 5, 3], [9, 7], align_corners=True)
    yield resized("nearest", [1, 4, 5, 3], [7, 12], mode="nearest")
    yield resized("nearest_exact", [1, 6, 5, 3], [4, 9], mode="nearest_exact")
    yield max_pool("max_pool", [1, 6, 6, 5], [1, 3, 3, 5], 2, 2, same=False)
    yield max_pool("max_pool_of_a_part_of_the_window", [2, 5, 5, 3], [2, 3, 3, 3], 3, 2, same=True)
    yield padded("pad", [1, 3, 4, 2], [0, 1, 2, 0], [0, 2, 0, 0])
    yield padded("pad_channels", [2, 2, 3, 3], [0, 0, 1, 1], [0, 1, 0, 4])
    yield joined("concat", [1, 3, 4, 2], [1, 3, 4, 5], -1)
    yield joined("concat_rows", [1, 3, 4, 2], [1, 2, 4, 2], 1)
    yield mean("mean", [2, 7, 7, 5], [1, 2], [2, 5])
    yield mean("mean_of_channels", [1, 4, 3, 40], [3], [1, 4, 3, 1], keep=True)
    yield mean("mean_of_many", [1, 30, 30, 3], [1, 2], [1, 3], scale=(0.001, 0.004))


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(case) for case in cases())
    (ROOT / "tests/import/litert_goldens.json").write_text(f"[\n{lines}\n]\n")
