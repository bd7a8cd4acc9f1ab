"""ATen operators, the instructions of torch.export programs, as nodes of ONNX's operator set.

The importer of ONNX models has the layout of images, the open batch and the weights of layers in
hand; this file says which of its nodes compute what an ATen operator does.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _core
from ._arrays import Array

OPSET = 24
OWN = "thimble"  # the domain of layers that ONNX has in another form

# TensorProto.DataType.
TYPES = {
    "float32": 1, "uint8": 2, "int8": 3, "int16": 5, "int32": 6, "int64": 7, "bool": 9, "float16": 10,
    "bfloat16": 16,
}


class UnsupportedError(Exception):
    """Why an operator is not imported, in a few words."""


def type_name(dtype: Any) -> str:
    return str(dtype).removeprefix("torch.")


def size_of(dim: Any) -> int:
    """A size, the open batch as the number that stands for it."""
    if isinstance(dim, int):
        return dim
    expression = dim.node.expr
    symbols = sorted(expression.free_symbols, key=str)
    if not symbols:
        return int(expression)
    times = expression / symbols[0]
    if len(symbols) > 1 or times.free_symbols or not times.is_integer:
        raise UnsupportedError(f"a size of {expression} is no multiple of the batch size")
    return int(times) * int(_core.OPEN_BATCH)


class Writer:
    """The nodes of one program, and the numbers that they read."""

    def __init__(self) -> None:
        self.nodes: list[tuple[Any, ...]] = []
        self.initializers: dict[str, tuple[Array, bool]] = {}  # whether it is a weight
        self.layer = ""
        self.described = ""
        self.names = 0

    def fresh(self) -> str:
        self.names += 1
        return f"%{self.names}"

    def constant(self, values: Any, dtype: str = "float32") -> str:
        name = self.fresh()
        self.initializers[name] = (np.array(values, dtype=dtype, order="C"), False)
        return name

    def integers(self, values: Sequence[int]) -> str:
        return self.constant(list(values), "int64")

    def __call__(
        self, op: str, *inputs: str, domain: str = "", outputs: Sequence[str] = (), **attributes: Any
    ) -> str:
        """Adds a node. Returns the name of its first result."""
        made = list(outputs) or [self.fresh()]
        self.nodes.append((op, domain, self.layer, self.described, list(inputs), made, attributes))
        return made[0]

    def reshape(self, x: str, sizes: Sequence[int]) -> str:
        return self("Reshape", x, self.integers(sizes), allowzero=1)

    def cast(self, x: str, dtype: str) -> str:
        if dtype not in TYPES:
            raise UnsupportedError(f"thimble has no elements of {dtype}")
        return self("Cast", x, to=TYPES[dtype])


class Call:
    """An operator of the program with its arguments, by the names that its schema has."""

    def __init__(self, writer: Writer, node: Any, names: dict[Any, str], result: Any) -> None:
        self.w = writer
        self.node = node
        self.names = names
        self.result = result  # the type and shape of the (first) result
        schema = node.target._schema.arguments
        self.arguments = {
            argument.name: argument.default_value for argument in schema if argument.has_default_value()
        }
        self.arguments |= dict(zip((argument.name for argument in schema), node.args))
        self.arguments |= node.kwargs

    def has(self, name: str) -> bool:
        return self.arguments.get(name) is not None

    def fake(self, name: str) -> Any:
        """The type and shape of an argument."""
        return self.arguments[name].meta["val"]

    def rank(self, name: str) -> int:
        return len(self.fake(name).shape)

    def shape(self, name: str) -> list[int]:
        return [size_of(dim) for dim in self.fake(name).shape]

    @property
    def result_shape(self) -> list[int]:
        return [size_of(dim) for dim in self.result.shape]

    def number(self, name: str, otherwise: Any = None) -> Any:
        """A number that is known, or a list of them."""
        return self.plain(self.arguments.get(name), otherwise)

    def plain(self, x: Any, otherwise: Any = None) -> Any:
        if x is None:
            return otherwise
        if isinstance(x, (list, tuple)):
            return [self.plain(each) for each in x]
        if hasattr(x, "meta"):
            x = x.meta["val"]
        if hasattr(x, "shape"):
            raise UnsupportedError("a setting is computed from the model's inputs")
        return x if isinstance(x, (bool, float, str)) else size_of(x)

    def value(self, x: Any, dtype: str = "") -> str:
        """A tensor by its name, or a number; in a type if one is given."""
        if hasattr(x, "meta") and hasattr(x.meta["val"], "shape"):
            name = self.names[x]
            own = type_name(x.meta["val"].dtype)
            return name if not dtype or own == dtype else self.w.cast(name, dtype)
        return self.w.constant(self.plain(x), dtype or "float32")

    def tensor(self, name: str, dtype: str = "") -> str:
        return self.value(self.arguments[name], dtype)

    def optional(self, name: str) -> str:
        return self.tensor(name) if self.has(name) else ""

    @property
    def dtype(self) -> str:
        return type_name(self.result.dtype)

    def axis(self, name: str = "dim", rank: int = -1, of: str = "self") -> int:
        rank = self.rank(of) if rank < 0 else rank
        axis = int(self.number(name))
        return axis + rank if axis < 0 else axis

    def pair(self, name: str, count: int, otherwise: Any = None) -> list[int]:
        """A number for each spatial axis."""
        given = self.number(name, otherwise)
        given = given if isinstance(given, list) else [given]
        return [int(x) for x in (given * count if len(given) == 1 else given)]


Conversion = Callable[[Call], "str | tuple[str, ...]"]
CONVERSIONS: dict[str, Conversion] = {}
# Composite operators that stay whole: torch.export takes the others apart.
WHOLE = (
    "linear.default matmul.default scaled_dot_product_attention.default lstm.input gru.input rnn_tanh.input "
    "rnn_relu.input layer_norm.default group_norm.default instance_norm.default rms_norm.default "
    "einsum.default silu.default hardswish.default hardsigmoid.default mish.default leaky_relu.default "
    "selu.default celu.default softplus.default log_sigmoid.default prelu.default one_hot.default glu.default "
    "upsample_nearest1d.vec upsample_nearest2d.vec upsample_nearest3d.vec upsample_linear1d.vec "
    "upsample_bilinear2d.vec upsample_bicubic2d.vec upsample_trilinear3d.vec _upsample_nearest_exact2d.vec "
    "adaptive_avg_pool1d.default adaptive_avg_pool2d.default avg_pool1d.default pad.default logsumexp.default "
    "pixel_unshuffle.default addmm.default baddbmm.default softmax.int log_softmax.int std.correction "
    "tril.default triu.default stack.default hardtanh.default split.Tensor split_with_sizes.default "
    "masked_fill.Scalar masked_fill.Tensor "
    "detach.default col2im.default fill.Scalar select_scatter.default embedding_dense_backward.default "
    "native_group_norm_backward.default native_layer_norm_backward.default"
).split()


def aten(*names: str) -> Callable[[Conversion], Conversion]:
    """The conversion of these operators."""

    def add(function: Conversion) -> Conversion:
        CONVERSIONS.update({name: function for name in names})
        return function

    return add


def _unary(op: str, **attributes: Any) -> Conversion:
    return lambda c: c.w(op, c.tensor("self"), **attributes)


for _name, _op in {
    "relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh", "exp": "Exp", "log": "Log", "sqrt": "Sqrt",
    "abs": "Abs", "neg": "Neg", "sin": "Sin", "cos": "Cos", "tan": "Tan", "asin": "Asin", "acos": "Acos",
    "atan": "Atan", "sinh": "Sinh", "cosh": "Cosh", "asinh": "Asinh", "acosh": "Acosh", "atanh": "Atanh",
    "erf": "Erf", "floor": "Floor", "ceil": "Ceil", "round": "Round", "sign": "Sign", "sgn": "Sign",
    "reciprocal": "Reciprocal", "isnan": "IsNaN", "isinf": "IsInf", "logical_not": "Not", "mish": "Mish",
    "hardswish": "HardSwish", "silu": "Swish", "alias": "Identity", "clone": "Identity",
    "contiguous": "Identity", "lift_fresh_copy": "Identity",
}.items():
    CONVERSIONS[_name] = _unary(_op)
CONVERSIONS["detach"] = _unary("StopGradient", domain=OWN)
CONVERSIONS["hardsigmoid"] = _unary("HardSigmoid", alpha=1 / 6, beta=0.5)
CONVERSIONS["selu"] = _unary("Selu")


@aten("bitwise_not")
def _bitwise_not(c: Call) -> str:
    return c.w("Not" if c.dtype == "bool" else "BitwiseNot", c.tensor("self"))


@aten("rsqrt")
def _rsqrt(c: Call) -> str:
    return c.w("Reciprocal", c.w("Sqrt", c.tensor("self")))


@aten("log1p", "expm1", "log2", "log10", "square")
def _of_one(c: Call) -> str:
    x, name = c.tensor("self"), c.node.target._schema.name
    if name == "aten::log1p":
        return c.w("Log", c.w("Add", x, c.w.constant(1.0)))
    if name == "aten::expm1":
        return c.w("Sub", c.w("Exp", x), c.w.constant(1.0))
    if name == "aten::square":
        return c.w("Mul", x, x)
    base = 2.0 if name == "aten::log2" else 10.0
    return c.w("Mul", c.w("Log", x), c.w.constant(1.0 / math.log(base)))


@aten("_to_copy", "to")
def _to_copy(c: Call) -> str:
    return c.tensor("self", c.dtype)


@aten("leaky_relu")
def _leaky_relu(c: Call) -> str:
    return c.w("LeakyRelu", c.tensor("self"), alpha=float(c.number("negative_slope")))


@aten("elu", "celu")
def _elu(c: Call) -> str:
    if c.number("scale", 1) != 1 or c.number("input_scale", 1) != 1:
        raise UnsupportedError("thimble's elu has no scales")
    op = "Celu" if c.node.target._schema.name == "aten::celu" else "Elu"
    return c.w(op, c.tensor("self"), alpha=float(c.number("alpha", 1.0)))


@aten("gelu")
def _gelu(c: Call) -> str:
    return c.w("Gelu", c.tensor("self"), approximate=c.number("approximate", "none"))


@aten("softplus")
def _softplus(c: Call) -> str:
    beta = float(c.number("beta", 1))
    if beta == 1.0:
        return c.w("Softplus", c.tensor("self"))
    scaled = c.w("Mul", c.tensor("self"), c.w.constant(beta))
    return c.w("Mul", c.w("Softplus", scaled), c.w.constant(1.0 / beta))


@aten("log_sigmoid")
def _log_sigmoid(c: Call) -> str:
    return c.w("Neg", c.w("Softplus", c.w("Neg", c.tensor("self"))))


@aten("prelu")
def _prelu(c: Call) -> str:
    rank, slopes = c.rank("self"), c.shape("weight")
    weight = c.tensor("weight")
    if slopes != [1] and rank > 2:
        weight = c.w.reshape(weight, [*slopes, *(1 for _ in range(rank - 2))])
    return c.w("PRelu", c.tensor("self"), weight)


@aten("glu")
def _glu(c: Call) -> str:
    axis = c.axis()
    half = c.shape("self")[axis] // 2
    first, second = c.w.fresh(), c.w.fresh()
    c.w("Split", c.tensor("self"), c.w.integers([half, half]), outputs=[first, second], axis=axis)
    return c.w("Mul", first, c.w("Sigmoid", second))


@aten("hardtanh", "clamp", "clamp_min", "clamp_max")
def _clamp(c: Call) -> str:
    low = c.arguments.get("min", c.arguments.get("min_val"))
    high = c.arguments.get("max", c.arguments.get("max_val"))
    bounds = ["" if x is None else c.value(x, c.dtype) for x in (low, high)]
    return c.w("Clip", c.tensor("self", c.dtype), *bounds)


@aten("softmax", "_softmax")
def _softmax(c: Call) -> str:
    return c.w("Softmax", c.tensor("self", c.dtype), axis=c.axis())


@aten("log_softmax", "_log_softmax")
def _log_softmax(c: Call) -> str:
    return c.w("LogSoftmax", c.tensor("self", c.dtype), axis=c.axis())


# Two tensors, or a tensor and a number.


def _operands(c: Call) -> tuple[str, str]:
    return c.tensor("self", c.dtype), c.tensor("other", c.dtype)


def _binary(op: str, of_bool: str) -> Conversion:
    return lambda c: c.w(of_bool if c.dtype == "bool" else op, *_operands(c))


for _name, _op, _of_bool in (
    ("mul", "Mul", "And"), ("maximum", "Max", "Or"), ("minimum", "Min", "And"), ("bitwise_and", "BitwiseAnd", "And"),
    ("bitwise_or", "BitwiseOr", "Or"), ("bitwise_xor", "BitwiseXor", "Xor"),
):
    CONVERSIONS[_name] = _binary(_op, _of_bool)


@aten("add", "sub", "rsub")
def _add(c: Call) -> str:
    a, b = _operands(c)
    if c.dtype == "bool":
        return c.w("Or", a, b)  # PyTorch subtracts none
    name, alpha = c.node.target._schema.name, c.number("alpha", 1)
    if name == "aten::rsub":
        a, b = b, a
    if alpha != 1:
        b = c.w("Mul", b, c.w.constant(alpha, c.dtype))
    return c.w("Add" if name == "aten::add" else "Sub", a, b)


@aten("div", "floor_divide")
def _div(c: Call) -> str:
    floors = c.node.target._schema.name == "aten::floor_divide"
    mode = "floor" if floors else c.number("rounding_mode")
    if mode is None:
        return c.w("Div", *_operands(c))
    y = c.w("Div", c.tensor("self", "float32"), c.tensor("other", "float32"))
    if mode == "trunc":
        y = c.w("Mul", c.w("Sign", y), c.w("Floor", c.w("Abs", y)))
    else:
        y = c.w("Floor", y)
    return y if c.dtype == "float32" else c.w.cast(y, c.dtype)


@aten("remainder", "fmod")
def _mod(c: Call) -> str:
    return c.w("Mod", *_operands(c), fmod=int(c.node.target._schema.name == "aten::fmod"))


@aten("pow")
def _pow(c: Call) -> str:
    return c.w("Pow", c.tensor("self", c.dtype), c.tensor("exponent", c.dtype))


def _common(c: Call) -> str:
    """The type in which the operands of a comparison meet."""
    torch = importlib.import_module("torch")
    given = []
    for x in (c.arguments["self"], c.arguments["other"]):
        fake = x.meta["val"] if hasattr(x, "meta") else x
        given.append(torch.empty((1,) * fake.dim(), dtype=fake.dtype) if hasattr(fake, "dtype") else fake)
    return type_name(torch.result_type(*given))


def _comparison(op: str) -> Conversion:
    return lambda c: c.w(op, c.tensor("self", _common(c)), c.tensor("other", _common(c)))


for _name, _op in {
    "eq": "Equal", "lt": "Less", "le": "LessOrEqual", "gt": "Greater", "ge": "GreaterOrEqual",
}.items():
    CONVERSIONS[_name] = _comparison(_op)


@aten("ne")
def _ne(c: Call) -> str:
    return c.w("Not", _comparison("Equal")(c))  # type: ignore[arg-type]


for _name, _op in {"logical_and": "And", "logical_or": "Or", "logical_xor": "Xor"}.items():
    CONVERSIONS[_name] = (
        lambda c, op=_op: c.w(op, c.tensor("self", "bool"), c.tensor("other", "bool")))  # type: ignore[misc]


@aten("where")
def _where(c: Call) -> str:
    return c.w("Where", c.tensor("condition"), c.tensor("self", c.dtype), c.tensor("other", c.dtype))


@aten("masked_fill")
def _masked_fill(c: Call) -> str:
    return c.w("Where", c.tensor("mask"), c.tensor("value", c.dtype), c.tensor("self"))


# Reductions.


def _axes(c: Call) -> list[int]:
    given = c.number("dim")
    rank = c.rank("self")
    axes = given if isinstance(given, list) else [] if given is None else [given]
    return [int(axis) % max(rank, 1) for axis in axes] or list(range(rank))


def _reduction(op: str) -> Conversion:
    def convert(c: Call) -> str:
        x = c.tensor("self", c.dtype)
        return c.w(op, x, c.w.integers(_axes(c)), keepdims=int(c.number("keepdim", False)))

    return convert


for _name, _op in {
    "sum": "ReduceSum", "mean": "ReduceMean", "amax": "ReduceMax", "amin": "ReduceMin",
    "prod": "ReduceProd", "logsumexp": "ReduceLogSumExp",
}.items():
    CONVERSIONS[_name] = _reduction(_op)


@aten("max", "min")
def _max(c: Call) -> str | tuple[str, ...]:
    is_max = c.node.target._schema.name == "aten::max"
    op = "Max" if is_max else "Min"
    if "other" in c.arguments:
        return c.w(op, *_operands(c))
    keeps = int(c.number("keepdim", False))
    y = c.w(f"Reduce{op}", c.tensor("self"), c.w.integers(_axes(c)), keepdims=keeps)
    if "dim" not in c.arguments:
        return y
    return y, c.w(f"Arg{op}", c.tensor("self"), axis=c.axis(), keepdims=keeps)


@aten("argmax", "argmin")
def _argmax(c: Call) -> str:
    op = "ArgMax" if c.node.target._schema.name == "aten::argmax" else "ArgMin"
    x = c.tensor("self")
    if not c.has("dim"):
        raise UnsupportedError("an axis must be given")
    return c.w(op, x, axis=c.axis(), keepdims=int(c.number("keepdim", False)))


@aten("var", "std")
def _var(c: Call) -> str:
    axes, keeps = _axes(c), int(c.number("keepdim", False))
    shape = c.shape("self")
    count = math.prod(shape[axis] for axis in axes)
    if count % int(_core.OPEN_BATCH) == 0:
        raise UnsupportedError("a variance over the open batch")
    correction = float(c.number("correction", 1))
    x = c.tensor("self")
    centered = c.w("Sub", x, c.w("ReduceMean", x, c.w.integers(axes), keepdims=1))
    y = c.w("ReduceSumSquare", centered, c.w.integers(axes), keepdims=keeps)
    y = c.w("Mul", y, c.w.constant(1.0 / max(count - correction, 0.0)))
    return c.w("Sqrt", y) if c.node.target._schema.name == "aten::std" else y


@aten("linalg_vector_norm")
def _norm(c: Call) -> str:
    op = {1.0: "ReduceL1", 2.0: "ReduceL2"}.get(float(c.number("ord", 2)))
    if op is None:
        raise UnsupportedError("thimble imports norms of 1 and 2")
    x = c.tensor("self")
    axes, keeps = c.w.integers(_axes(c)), int(c.number("keepdim", False))
    if op == "ReduceL1":
        return c.w("ReduceSum", c.w("Abs", x), axes, keepdims=keeps)
    return c.w("Sqrt", c.w("ReduceSumSquare", x, axes, keepdims=keeps))


@aten("cumsum")
def _cumsum(c: Call) -> str:
    return c.w("CumSum", c.tensor("self", c.dtype), c.w.constant(c.axis(), "int64"))


@aten("topk")
def _topk(c: Call) -> tuple[str, ...]:
    made = (c.w.fresh(), c.w.fresh())
    c.w("TopK", c.tensor("self"), c.w.integers([c.number("k")]), outputs=made, axis=c.axis(),
        largest=int(c.number("largest", True)))
    return made
