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
