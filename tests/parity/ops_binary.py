"""Elementwise functions of several tensors: arithmetic, comparisons, choices."""
import thimble as tb
from layouts import f32
from registry import op


@op(["add", "__radd__"], "add Value.__add__ affine")
def add(a, b, alpha=1):
    return a + (b if alpha == 1 else alpha * b)


@op("sub", "sub Value.__sub__ affine")
def sub(a, b, alpha=1):
    return a - (b if alpha == 1 else alpha * b)


@op(["rsub", "__rsub__"], "sub Value.__rsub__ affine")
def rsub(a, b, alpha=1):
    return b - (a if alpha == 1 else alpha * a)


@op(["mul", "__rmul__"], "mul Value.__mul__")
def mul(a, b):
    return a * b


@op(["div/no_rounding_mode", "true_divide"], "div Value.__truediv__")
def div(a, b, rounding_mode=None):
    return a / b


@op("__rdiv__", "div Value.__rtruediv__")
def rdiv(a, b):
    return b / a


@op("pow", "pow pow_tensor Value.__pow__")
def power(a, b):
    return a**b


@op("__rpow__", "pow pow_tensor Value.__rpow__")
def rpow(a, b):
    return b**a


@op(["maximum", "max/binary"], "maximum")
def maximum(a, b):
    return tb.maximum(a, b)


@op(["minimum", "min/binary"], "minimum")
def minimum(a, b):
    return tb.minimum(a, b)


def _comparison(name):
    @op(name, name)
    def call(a, b):
        return getattr(tb, name)(a, b)


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _comparison(_name)


@op("clamp", "clamp")
def clamp(x, low=None, high=None):
    return tb.clamp(x, f32(low), f32(high))


@op("clamp_min", "clamp")
def clamp_min(x, low):
    return tb.clamp(x, low=low)


@op("clamp_max", "clamp")
def clamp_max(x, high):
    return tb.clamp(x, high=high)


@op("where", "where")
def where(a, condition, b):
    return tb.where(condition, a, b)


@op("masked_fill", "where")
def masked_fill(x, mask, value):
    return tb.where(mask, value, x)


@op("addcmul", "add mul")
def addcmul(x, a, b, value=1):
    return x + value * a * b


@op("addcdiv", "add div")
def addcdiv(x, a, b, value=1):
    return x + value * a / b


@op("lerp", "add mul sub")
def lerp(a, b, weight):
    return a + weight * (b - a)


@op("remainder", "remainder")
def remainder(a, b):
    return tb.remainder(a, b)


@op("__rmod__", "remainder")
def rmod(a, b):
    return tb.remainder(b, a)


@op("fmod", "fmod")
def fmod(a, b):
    return tb.fmod(a, b)


@op(["floor_divide", "div/floor_rounding"], "floor_divide", gradients=False)  # it has none
def floor_divide(a, b, rounding_mode=None):
    return tb.floor_divide(a, b)


@op("div/trunc_rounding", "trunc div", gradients=False)  # it is 0
def div_trunc(a, b, rounding_mode=None):
    return tb.trunc(a / b)


@op("atan2", "atan2")
def atan2(a, b):
    return tb.atan2(a, b)


def _logic(name):
    @op(name, name)
    def call(a, b):
        return getattr(tb, name)(a, b)


for _name in ("logical_and", "logical_or", "logical_xor"):
    _logic(_name)


@op("logical_not", "logical_not")
def logical_not(a):
    return tb.logical_not(a)


def _bits(names, ours):
    @op(names, ours)
    def call(a, b):
        return getattr(tb, ours)(a, b)


for _names, _ours in ((["bitwise_and", "__rand__"], "bitwise_and"),
                      (["bitwise_or", "__ror__"], "bitwise_or"),
                      (["bitwise_xor", "__rxor__"], "bitwise_xor"),
                      ("bitwise_left_shift", "bitwise_left_shift"),
                      ("bitwise_right_shift", "bitwise_right_shift")):
    _bits(_names, _ours)


@op("bitwise_not", "bitwise_not")
def bitwise_not(a):
    return tb.bitwise_not(a)
