import torch
from torch.nn import functional as F


def halves(function):
    return lambda x, axis: function(*x.chunk(2, axis))


FUNCTIONS = {"glu": F.glu, "swiglu": halves(lambda a, b: F.silu(a) * b),
             "geglu": halves(lambda a, b: F.gelu(a) * b)}


def case(op, name, shape, axis):
    return dict(name=name, op=op, attrs=dict(axis=axis),
                inputs=[{"shape": shape, "low": -4, "high": 4}],
                torch=lambda x: FUNCTIONS[op](x, axis))


CASES = [case(op, *rest) for op in FUNCTIONS
         for rest in [("last", [3, 8], -1), ("middle", [2, 4, 3], 1)]]
