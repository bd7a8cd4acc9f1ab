#!/usr/bin/env python3
"""Writes tests/import/tflite_models.json: TensorFlow Lite files of one operator, and what LiteRT makes of them.

Usage: python scripts/goldens_tflite.py
Needs NumPy and LiteRT (pip install ai-edge-litert; the file was made with 2.3.0). Deterministic.

Every case has a model file in base64, the contents of its inputs and the output of the interpreter's reference
kernels; of float kernels up to the order of their sums.
"""
import base64
import json
import pathlib

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

ROOT = pathlib.Path(__file__).resolve().parent.parent
RANDOM = np.random.default_rng(25)
TYPES = {"float32": 0, "float16": 1, "int32": 2, "int64": 4, "int8": 9}
OPTIONS = schema.BuiltinOptions
NOT_REFERENCE = {104, 108, 111, 116}


class Tensor:
    """A tensor with its values; fixed: a constant of the model."""

    def __init__(self, data, fixed=False, scales=(), zero=0, axis=0):
        self.data, self.fixed = np.asarray(data), fixed
        self.scales, self.zero, self.axis = [float(np.float32(s)) for s in scales], zero, axis


class Result:
    """What an operator makes."""

    def __init__(self, shape, dtype="float32", scale=None, zero=0):
        self.shape, self.dtype, self.scale, self.zero = list(shape), dtype, scale, zero


def floats(*shape, fixed=False, low=-2.0, high=2.0):
    return Tensor(RANDOM.uniform(low, high, shape).astype(np.float32).round(3), fixed)


def ints(*values, dtype=np.int32):
    return Tensor(np.array(values, dtype).reshape(np.shape(values)), True)


def image(*shape, scale=0.05, zero=3):
    return Tensor(RANDOM.integers(-128, 128, shape).astype(np.int8), False, [scale], zero)


def weights(shape, channels, axis):
    scales = RANDOM.uniform(0.002, 0.02, channels)
    return Tensor(RANDOM.integers(-127, 128, shape).astype(np.int8), True, scales, 0, axis)


def bias(x, w, channels):
    return Tensor(RANDOM.integers(-2000, 2000, channels).astype(np.int32), True,
                  [x.scales[0] * s for s in w.scales])


def model_of(operators, tensors, inputs, outputs):
    """The bytes of a model. operators: (code, version, options type, options, inputs, outputs)."""
    model, graph = schema.ModelT(), schema.SubGraphT()
    model.version, model.subgraphs = 3, [graph]
    model.buffers, model.operatorCodes = [schema.BufferT()], []
    graph.tensors, graph.operators = [], []
    for i, tensor in enumerate(tensors):
        made = schema.TensorT()
        made.name = f"t{i}"
        made.buffer = 0
        if isinstance(tensor, Result):
            made.shape, made.type = tensor.shape, TYPES[tensor.dtype]
            scales, zeros, axis = ([tensor.scale] if tensor.scale else []), [tensor.zero], 0
        else:
            made.shape, made.type = list(tensor.data.shape), TYPES[str(tensor.data.dtype)]
            scales, zeros, axis = tensor.scales, [tensor.zero] * len(tensor.scales), tensor.axis
            if tensor.fixed:
                buffer = schema.BufferT()
                buffer.data = np.frombuffer(tensor.data.tobytes(), np.uint8)
                model.buffers.append(buffer)
                made.buffer = len(model.buffers) - 1
        if scales:
            made.quantization = schema.QuantizationParametersT()
            made.quantization.scale, made.quantization.zeroPoint = scales, zeros
            made.quantization.quantizedDimension = axis
        graph.tensors.append(made)
    for code, version, options_type, options, sources, results in operators:
        kind = schema.OperatorCodeT()
        kind.builtinCode, kind.deprecatedBuiltinCode, kind.version = code, min(code, 127), version
        model.operatorCodes.append(kind)
        operator = schema.OperatorT()
        operator.opcodeIndex = len(model.operatorCodes) - 1
        operator.inputs, operator.outputs = sources, results
        operator.builtinOptionsType, operator.builtinOptions = options_type, options
        graph.operators.append(operator)
    graph.inputs, graph.outputs = inputs, outputs
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def run(name, operators, tensors, outputs):
    inputs = [i for i, t in enumerate(tensors) if isinstance(t, Tensor) and not t.fixed]
    content = model_of(operators, tensors, inputs, outputs)
    # Dense layers of int8 follow the integer rule, which is not that of the reference kernels; of ELU and others
    # there are none.
    others = any(code in NOT_REFERENCE for code, *_ in operators) or (
        any(code == 9 for code, *_ in operators) and tensors[inputs[0]].data.dtype == np.int8)
    resolver = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES if others else OpResolverType.BUILTIN_REF
    interpreter = Interpreter(model_content=content, experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()
    for detail, i in zip(interpreter.get_input_details(), inputs):
        interpreter.set_tensor(detail["index"], tensors[i].data)
    interpreter.invoke()
    made = [interpreter.get_tensor(detail["index"]) for detail in interpreter.get_output_details()]
    return {"name": name, "model": base64.b64encode(content).decode(),
            "inputs": [tensors[i].data.ravel().tolist() for i in inputs],
            "outputs": [[float(f"{v:.7g}") if y.dtype == np.float32 else int(v) for v in y.ravel()]
                        for y in made]}


def options(kind, **fields):
    made = getattr(schema, kind + "OptionsT")()
    for field, value in fields.items():
        setattr(made, field, value)
    return getattr(OPTIONS, kind + "Options"), made


def one(name, code, opts, inputs, results, version=1):
    """An operator with these inputs (None: left out) and results."""
    tensors, sources = [], []
    for tensor in inputs:
        sources.append(-1 if tensor is None else len(tensors))
        if tensor is not None:
            tensors.append(tensor)
    results = results if isinstance(results, list) else [results]
    outputs = list(range(len(tensors), len(tensors) + len(results)))
    kind, made = opts if opts else (0, None)
    return run(name, [(code, version, kind, made, sources, outputs)], tensors + results, outputs)


def float_layers():
    def conv(**more):
        return options("Conv2D", **{"padding": 0, "strideH": 1, "strideW": 1, **more})

    def depthwise(**more):
        return options("DepthwiseConv2D", **{"padding": 0, "strideH": 1, "strideW": 1, **more})

    yield one("conv_same_relu6", 3, conv(strideH=2, fusedActivationFunction=3),
              [floats(1, 5, 6, 2), floats(3, 3, 2, 2, fixed=True), floats(3, fixed=True)], Result([1, 3, 6, 3]))
    yield one("conv_valid_dilated", 3, conv(padding=1, dilationHFactor=2, dilationWFactor=2),
              [floats(1, 6, 6, 2), floats(2, 2, 2, 2, fixed=True), floats(2, fixed=True)], Result([1, 4, 4, 2]))
    yield one("conv_relu_n1_to_1", 3, conv(fusedActivationFunction=2),
              [floats(1, 3, 3, 1), floats(2, 1, 1, 1, fixed=True), floats(2, fixed=True)], Result([1, 3, 3, 2]))
    yield one("conv_groups", 3, conv(),
              [floats(1, 3, 3, 4), floats(6, 2, 2, 2, fixed=True), floats(6, fixed=True)], Result([1, 3, 3, 6]))
    yield one("depthwise_multiplier_relu", 4, depthwise(depthMultiplier=2, fusedActivationFunction=1),
              [floats(1, 4, 4, 2), floats(1, 3, 3, 4, fixed=True), floats(4, fixed=True)], Result([1, 4, 4, 4]))
    for name, padding, size in (("valid", 1, 7), ("same", 0, 6)):
        yield one(f"transpose_conv_{name}", 67, options("TransposeConv", padding=padding, strideH=2, strideW=2),
                  [ints(1, size, size, 2), floats(2, 3, 3, 3, fixed=True), floats(1, 3, 3, 3), floats(2, fixed=True)],
                  Result([1, size, size, 2]), version=3)
    dense = options("FullyConnected", fusedActivationFunction=1)
    yield one("fully_connected", 9, dense,
              [floats(1, 2, 3), floats(4, 6, fixed=True), floats(4, fixed=True)], Result([1, 4]))
    yield one("fully_connected_keeping_dimensions", 9, options("FullyConnected", keepNumDims=True),
              [floats(1, 3, 4), floats(2, 4, fixed=True), None], Result([1, 3, 2]), version=5)
    yield one("batch_matmul", 126, options("BatchMatMul", adjY=True),
              [floats(1, 3, 4), floats(1, 2, 4)], Result([1, 3, 2]))
    half = Tensor(RANDOM.uniform(-1, 1, (3, 4)).astype(np.float16), True)
    yield run("dequantize_of_a_constant",
              [(6, 3, OPTIONS.DequantizeOptions, schema.DequantizeOptionsT(), [1], [2]),
               (9, 1, OPTIONS.FullyConnectedOptions, schema.FullyConnectedOptionsT(), [0, 2, -1], [3])],
              [floats(1, 4), half, Result([3, 4]), Result([1, 3])], [3])


def float_pools():
    def pool(**more):
        return options("Pool2D", **{"padding": 0, "strideH": 2, "strideW": 2, "filterHeight": 3, "filterWidth": 2, **more})

    yield one("average_pool_same", 1, pool(), [floats(1, 5, 5, 2)], Result([1, 3, 3, 2]))
    yield one("average_pool_valid_relu", 1, pool(padding=1, fusedActivationFunction=1), [floats(1, 5, 5, 2)],
              Result([1, 2, 2, 2]))
    yield one("max_pool_same", 17, pool(), [floats(1, 5, 5, 2)], Result([1, 3, 3, 2]))
    yield one("resize_bilinear_half_pixels", 23, options("ResizeBilinear", halfPixelCenters=True),
              [floats(1, 3, 4, 2), ints(5, 6)], Result([1, 5, 6, 2]), version=3)
    yield one("resize_bilinear_corners", 23, options("ResizeBilinear", alignCorners=True),
              [floats(1, 3, 4, 2), ints(5, 6)], Result([1, 5, 6, 2]))
    yield one("resize_nearest", 97, options("ResizeNearestNeighbor"), [floats(1, 3, 4, 2), ints(5, 6)],
              Result([1, 5, 6, 2]))
    yield one("resize_nearest_half_pixels", 97, options("ResizeNearestNeighbor", halfPixelCenters=True),
              [floats(1, 3, 4, 2), ints(5, 6)], Result([1, 5, 6, 2]), version=3)
    yield one("l2_normalization", 11, options("L2Norm"), [floats(1, 3, 4)], Result([1, 3, 4]))
    yield one("local_response_normalization", 13,
              options("LocalResponseNormalization", radius=2, bias=1.5, alpha=0.3, beta=0.6),
              [floats(1, 2, 2, 7)], Result([1, 2, 2, 7]))


def float_pairs():
    x = floats(1, 2, 3)
    for name, code, kind, more in (("add", 0, "Add", {}), ("sub", 41, "Sub", {}), ("mul", 18, "Mul", {}),
                                   ("div", 42, "Div", {}), ("maximum", 55, "MaximumMinimum", {}),
                                   ("minimum", 57, "MaximumMinimum", {}),
                                   ("squared_difference", 99, "SquaredDifference", {}),
                                   ("add_relu6", 0, "Add", {"fusedActivationFunction": 3})):
        yield one(name, code, options(kind, **more), [x, floats(1, 2, 3, low=0.5)], Result([1, 2, 3]))
    yield one("add_of_a_constant", 0, options("Add"), [x, floats(3, fixed=True)], Result([1, 2, 3]))
    yield one("mul_by_a_number", 18, options("Mul"), [x, Tensor(np.float32(1.5), True)], Result([1, 2, 3]))
    yield one("pow", 78, options("Pow"), [floats(1, 4, low=0.2), floats(1, 4)], Result([1, 4]))
    yield one("add_n", 106, options("AddN"), [x, floats(1, 2, 3), floats(1, 2, 3)], Result([1, 2, 3]))


def float_elements():
    for name, code, kind, low in (
            ("relu", 19, None, -2), ("relu_n1_to_1", 20, None, -2), ("relu6", 21, None, -9), ("logistic", 14, None, -2),
            ("tanh", 28, None, -2), ("elu", 111, None, -2), ("hard_swish", 117, "HardSwish", -4), ("exp", 47, "Exp", -2),
            ("log", 73, None, 0.1), ("sqrt", 75, None, 0.1), ("rsqrt", 76, None, 0.1), ("neg", 59, "Neg", -2),
            ("abs", 101, "Abs", -2), ("square", 92, "Square", -2), ("log_softmax", 50, "LogSoftmax", -2)):
        yield one(name, code, options(kind) if kind else None, [floats(1, 12, low=low, high=9)], Result([1, 12]))
    yield one("leaky_relu", 98, options("LeakyRelu", alpha=0.3), [floats(1, 6)], Result([1, 6]))
    yield one("gelu", 150, options("Gelu", approximate=False), [floats(1, 6)], Result([1, 6]))
    yield one("gelu_approximate", 150, options("Gelu", approximate=True), [floats(1, 6)], Result([1, 6]))
    yield one("prelu", 54, None, [floats(1, 2, 3), floats(1, 3, fixed=True)], Result([1, 2, 3]))
    yield one("softmax", 25, options("Softmax", beta=1.0), [floats(1, 2, 5)], Result([1, 2, 5]))
    yield one("softmax_beta", 25, options("Softmax", beta=0.7), [floats(1, 5)], Result([1, 5]))
    for name, code in (("mean", 40), ("sum", 74), ("reduce_max", 82), ("reduce_min", 89)):
        yield one(name, code, options("Reducer", keepDims=False), [floats(1, 3, 4, 2), ints(1, 2)], Result([1, 2]))
    yield one("mean_keeping_dimensions", 40, options("Reducer", keepDims=True), [floats(1, 3, 4, 2), ints(-1)],
              Result([1, 3, 4, 1]))
    yield one("arg_max", 56, options("ArgMax", outputType=2), [floats(1, 3, 5), ints(-1)], Result([1, 3], "int32"))
    yield one("cast", 53, options("Cast"), [Tensor(np.arange(6, dtype=np.int32).reshape(1, 6))], Result([1, 6]))


def moves():
    x = floats(1, 4, 6, 2)
    yield one("reshape", 22, options("Reshape", newShape=[1, 8, 6]), [x, ints(1, 8, 6)], Result([1, 8, 6]))
    yield one("squeeze", 43, options("Squeeze", squeezeDims=[1]), [floats(1, 1, 5)], Result([1, 5]))
    yield one("expand_dims", 70, options("ExpandDims"), [floats(1, 5), ints(1)], Result([1, 1, 5]))
    yield one("transpose", 39, options("Transpose"), [x, ints(0, 3, 1, 2)], Result([1, 2, 4, 6]))
    yield one("concatenation", 2, options("Concatenation", axis=-1), [x, floats(1, 4, 6, 1)], Result([1, 4, 6, 3]))
    yield one("split", 49, options("Split", numSplits=2), [ints(2), x], [Result([1, 4, 3, 2])] * 2)
    yield one("split_v", 102, options("SplitV", numSplits=2), [x, ints(1, -1), ints(1)],
              [Result([1, 1, 6, 2]), Result([1, 3, 6, 2])])
    yield one("pack", 83, options("Pack", valuesCount=2, axis=1), [floats(1, 3), floats(1, 3)], Result([1, 2, 3]))
    yield one("unpack", 88, options("Unpack", num=2, axis=1), [floats(1, 2, 3)], [Result([1, 3])] * 2)
    yield one("slice", 65, options("Slice"), [x, ints(0, 1, 2, 0), ints(1, 2, -1, 1)], Result([1, 2, 4, 1]))
    strided = options("StridedSlice", beginMask=1, endMask=5, shrinkAxisMask=8)
    yield one("strided_slice", 45, strided, [x, ints(0, 3, 1, -1), ints(0, 0, 0, 0), ints(1, -1, 2, 1)],
              Result([1, 3, 3]))
    paddings = ints([0, 0], [1, 2], [0, 1], [1, 0])
    yield one("pad", 34, options("Pad"), [x, paddings], Result([1, 7, 7, 3]))
    yield one("padv2", 60, options("PadV2"), [x, paddings, Tensor(np.float32(1.25), True)], Result([1, 7, 7, 3]))
    yield one("mirror_pad", 100, options("MirrorPad", mode=0), [x, ints([0, 0], [1, 2], [3, 1], [0, 0])],
              Result([1, 7, 10, 2]))
    yield one("depth_to_space", 5, options("DepthToSpace", blockSize=2), [floats(1, 2, 3, 8)], Result([1, 4, 6, 2]))
    yield one("space_to_depth", 26, options("SpaceToDepth", blockSize=2), [x], Result([1, 2, 3, 8]))
    rows = Tensor(np.array([[2, 0, 1]], np.int32))
    yield one("gather_of_rows", 36, options("Gather", axis=0), [floats(4, 3, fixed=True), rows], Result([1, 3, 3]))
    yield one("gather_of_columns", 36, options("Gather", axis=1), [floats(1, 4, 2), ints(3, 1)], Result([1, 2, 2]))
    yield one("broadcast_to", 130, options("BroadcastTo"), [floats(1, 1, 3), ints(1, 4, 3)], Result([1, 4, 3]),
              version=2)


def int8_operators():
    x = image(1, 5, 6, 2)
    w = weights([3, 3, 2, 2], 3, 0)
    yield one("int8_conv", 3, options("Conv2D", padding=0, strideH=2, strideW=1, fusedActivationFunction=1),
              [x, w, bias(x, w, 3)], Result([1, 3, 6, 3], "int8", 0.3, -5), version=3)
    w = weights([1, 3, 3, 4], 4, 3)
    yield one("int8_depthwise", 4, options("DepthwiseConv2D", padding=0, strideH=1, strideW=1, depthMultiplier=2),
              [x, w, bias(x, w, 4)], Result([1, 5, 6, 4], "int8", 0.2, 4), version=3)
    small = image(1, 3, 3, 3)
    w = weights([2, 3, 3, 3], 1, 0)
    yield one("int8_transpose_conv", 67, options("TransposeConv", padding=0, strideH=2, strideW=2),
              [ints(1, 6, 6, 2), w, small, bias(small, w, 2)], Result([1, 6, 6, 2], "int8", 0.2, 4), version=3)
    w = weights([5, 12], 1, 0)
    row = image(1, 12)
    yield one("int8_fully_connected", 9, options("FullyConnected"), [row, w, bias(row, w, 5)],
              Result([1, 5], "int8", 0.15, -9), version=4)
    for name, code, kind in (("add", 0, "Add"), ("mul", 18, "Mul")):
        yield one(f"int8_{name}", code, options(kind, fusedActivationFunction=3),
                  [x, image(1, 5, 6, 2, scale=0.08, zero=-7)], Result([1, 5, 6, 2], "int8", 0.11, 5), version=2)
    pool = options("Pool2D", padding=0, strideH=2, strideW=2, filterHeight=3, filterWidth=3)
    relu_pool = options("Pool2D", padding=1, strideH=2, strideW=2, filterHeight=2, filterWidth=2,
                        fusedActivationFunction=1)
    yield one("int8_average_pool", 1, pool, [x], Result([1, 3, 3, 2], "int8", 0.05, 3), version=2)
    yield one("int8_max_pool_relu", 17, relu_pool, [x], Result([1, 2, 3, 2], "int8", 0.05, 3), version=2)
    yield one("int8_mean", 40, options("Reducer", keepDims=False), [x, ints(1, 2)], Result([1, 2], "int8", 0.02, 7),
              version=2)
    yield one("int8_softmax", 25, options("Softmax", beta=1.0), [image(1, 20)], Result([1, 20], "int8", 1 / 256, -128),
              version=2)
    every = Tensor(np.arange(-128, 128, dtype=np.int8).reshape(1, 256), False, [0.047], 11)
    yield one("int8_logistic", 14, None, [every], Result([1, 256], "int8", 1 / 256, -128), version=2)
    yield one("int8_tanh", 28, None, [every], Result([1, 256], "int8", 1 / 128, 0), version=2)
    yield one("int8_relu", 19, None, [every], Result([1, 256], "int8", 0.06, -20), version=2)
    yield one("int8_relu6", 21, None, [every], Result([1, 256], "int8", 0.05, -20), version=2)
    yield one("int8_requantize", 114, options("Quantize"), [every], Result([1, 256], "int8", 0.033, 40), version=2)
    yield one("quantize", 114, options("Quantize"), [floats(1, 40, low=-7, high=7)], Result([1, 40], "int8", 0.05, -3))
    yield one("dequantize", 6, options("Dequantize"), [every], Result([1, 256]), version=2)
    yield one("int8_pad", 34, options("Pad"), [x, ints([0, 0], [1, 0], [0, 2], [0, 0])],
              Result([1, 6, 8, 2], "int8", 0.05, 3), version=2)
    yield one("int8_concatenation", 2, options("Concatenation", axis=3), [x, image(1, 5, 6, 3)],
              Result([1, 5, 6, 5], "int8", 0.05, 3), version=2)


def whole_numbers_and_waves():
    x = Tensor(np.array([[-7.2, -2.5, -1.5, -0.5, -0.3, 0.0, 0.5, 1.5, 2.5, 3.7]], np.float32))
    for name, code, kind in (("floor", 8, None), ("ceil", 104, None), ("round", 116, None), ("sin", 66, None),
                             ("cos", 108, "Cos")):
        yield one(name, code, options(kind) if kind else None, [x], Result([1, 10]))


if __name__ == "__main__":
    groups = (float_layers, float_pools, float_pairs, float_elements, moves, int8_operators, whole_numbers_and_waves)
    lines = ",\n".join(json.dumps(case) for group in groups for case in group())
    (ROOT / "tests/import/tflite_models.json").write_text(f"[\n{lines}\n]\n")
