"""Elementwise functions of one tensor."""
import math
import pathlib
import re

import torch

import thimble as tb
from layouts import channels_first, channels_last, dtype_name, like, only_f32, vector
from registry import op

# An op of one tensor names PyTorch's function in its definition: it needs no line here. These have other
# tests than those that follow from a definition, or more names.
_OTHERS = {"neg": "neg", "reciprocal": "reciprocal", "nn.functional.relu6": "relu6",
           "nn.functional.hardswish": "hard_swish"}
_OPS = pathlib.Path(__file__).parents[2] / "src" / "ops"
_NAMED = {
    found[1]: path.parent.name
    for path in sorted(_OPS.glob("*/op.cpp"))
    if (found := re.search(r'\.torch = "([a-z0-9_.]+)"', path.read_text()))
}


# The gradients divide by 1 - x * x, which cancels near 1.
CANCELS = {"asin": 4, "acos": 4, "atanh": 10}


def _unary(name, ours):
    @op(name, ours, times=CANCELS.get(name, 1))
    def call(x, inplace=False):
        return getattr(tb, ours)(x)


for _name, _ours in {**_NAMED, **_OTHERS}.items():
    if _name != "round":  # below, with its decimals
        _unary(_name, _ours)


@op(["round", "round/decimals_0"], "round")
def round_to_even(x, decimals=0):
    return tb.round(x)


@op("deg2rad", "affine")
def deg2rad(x):
    return tb.affine(x, scale=math.pi / 180)


@op("rad2deg", "affine")
def rad2deg(x):
    return tb.affine(x, scale=180 / math.pi)


@op("nn.functional.elu", "elu")
def elu(x, alpha=1.0, inplace=False):
    return tb.elu(x, alpha=alpha)


@op("nn.functional.celu", "celu")
def celu(x, alpha=1.0, inplace=False):
    return tb.celu(x, alpha=alpha)


@op("nn.functional.leaky_relu", "leaky_relu")
def leaky_relu(x, negative_slope=0.01, inplace=False):
    return tb.leaky_relu(x, slope=negative_slope)


@op("nn.functional.hardtanh", "hard_tanh")
def hardtanh(x, min_val=-1.0, max_val=1.0, inplace=False):
    return tb.hard_tanh(x, min_val=min_val, max_val=max_val)


@op("nn.functional.hardshrink", "hardshrink")
def hardshrink(x, lambd=0.5):
    return tb.hardshrink(x, lambd=lambd)


@op("nn.functional.softshrink", "softshrink")
def softshrink(x, lambd=0.5):
    return tb.softshrink(x, lambd=lambd)


@op("nn.functional.threshold", "threshold")
def threshold(x, threshold, value, inplace=False):
    return tb.threshold(x, threshold=threshold, value=value)


@op("logit", "logit")
def logit(x, eps=None):
    return tb.logit(x, eps=-1.0 if eps is None else eps)


@op("nn.functional.softplus", "softplus")
def softplus(x, beta=1, threshold=20):
    return tb.softplus(x, beta=beta, threshold=threshold)


@op("nn.functional.gelu", "gelu")
def gelu(x, approximate="none"):
    return tb.gelu(x, tanh_approximation=approximate == "tanh")


@op("nn.functional.tanhshrink", "tanhshrink")
def tanhshrink(x):
    return tb.tanhshrink(x)


@op("nn.functional.glu", "glu")
def glu(x, dim=-1):
    return tb.glu(x, axis=dim)


@op("nn.functional.prelu", "prelu")
def prelu(x, weight):
    if weight.ndim == 0:
        weight = tb.reshape(weight, (1,))
    if x.ndim < 2:  # one channel: its weight is for all
        return tb.reshape(tb.prelu(tb.reshape(x, (-1, 1)), weight), x.shape)
    return channels_first(tb.prelu(channels_last(x), weight))


def _along(function, x, dim, dtype):
    only_f32(dtype)
    return like(function(vector(x), axis=dim), x)


@op(["softmax", "softmax/with_dtype"], "softmax")
def softmax(x, dim, dtype=None):
    return _along(tb.softmax, x, dim, dtype)


@op(["log_softmax", "log_softmax/with_dtype"], "log_softmax")
def log_softmax(x, dim, dtype=None):
    return _along(tb.log_softmax, x, dim, dtype)


@op(["nn.functional.softmin", "nn.functional.softmin/with_dtype"], "softmax neg")
def softmin(x, dim, dtype=None):
    return _along(tb.softmax, -x, dim, dtype)


def _cast(name, dtype):
    @op(name, "cast")
    def call(x, memory_format=None):
        return tb.cast(x, dtype_name(dtype))


for _name, _dtype in {
    "byte": torch.uint8, "char": torch.int8, "int": torch.int32,
    "long": torch.int64, "half": torch.float16, "bfloat16": torch.bfloat16, "float": torch.float32,
    "double": torch.float64,
}.items():
    _cast(_name, _dtype)


@op("bool", "ne")
def to_bool(x, memory_format=None):
    return tb.ne(x, 0.0)


@op("to", "cast")
def to(x, *args, **kwargs):
    wanted = [a for a in args if isinstance(a, torch.dtype)]
    return tb.cast(x, dtype_name(wanted[0])) if wanted else x
