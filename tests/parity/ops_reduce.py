"""Reductions, running sums, and places of the largest."""
import thimble as tb
from layouts import like, only_f32, vector
from registry import op


def _axes(x, dim):
    """Of the reduction; () are all. A single number has none."""
    if dim is None or dim == [] or dim == () or x.ndim == 0:
        return ()
    return tuple(dim) if isinstance(dim, (list, tuple)) else (dim,)


def _reduction(name, ours):
    @op(name, ours)
    def call(x, dim=None, keepdim=False, dtype=None):
        only_f32(dtype)
        return getattr(tb, ours)(x, axes=_axes(x, dim), keepdims=keepdim and x.ndim > 0)


for _name, _ours in {"sum": "sum", "mean": "mean", "amax": "max", "amin": "min",
                     "max/reduction_no_dim": "max", "min/reduction_no_dim": "min"}.items():
    _reduction(_name, _ours)


def _best(name, values, place):
    @op(name, f"{values} {place}")
    def call(x, dim, keepdim=False):
        y = vector(x)
        keepdim = keepdim and x.ndim > 0
        return (getattr(tb, values)(y, axes=(dim,), keepdims=keepdim),
                getattr(tb, place)(y, axis=dim, keepdims=keepdim))


_best("max/reduction_with_dim", "max", "argmax")
_best("min/reduction_with_dim", "min", "argmin")


def _place(name):
    @op(name, name)
    def call(x, dim=None, keepdim=False):
        if dim is None:
            x, dim = tb.reshape(x, (-1,)), 0
        return getattr(tb, name)(vector(x), axis=dim, keepdims=keepdim and x.ndim > 0)


_place("argmax")
_place("argmin")


@op("aminmax", "min max")
def aminmax(x, dim=None, keepdim=False):
    axes, keepdims = _axes(x, dim), keepdim and x.ndim > 0
    return tb.min(x, axes=axes, keepdims=keepdims), tb.max(x, axes=axes, keepdims=keepdims)


@op("sum_to_size", "sum_to")
def sum_to_size(x, *shape):
    shape = shape[0] if isinstance(shape[0], (list, tuple)) else shape
    return tb.sum_to(x, shape)


@op("cumsum", "cumsum")
def cumsum(x, dim, dtype=None):
    only_f32(dtype)
    return like(tb.cumsum(vector(x), axis=dim), x)


@op("topk", "topk")
def topk(x, k, dim=-1, largest=True, sorted=True):
    values, indices = tb.topk(vector(x), k=k, axis=dim, largest=largest)
    return like(values, x), like(indices, x)


@op("nn.functional.normalize", "normalize")
def normalize(x, p=2.0, dim=1, eps=1e-12):
    return like(tb.normalize(vector(x), axis=dim, p=p, epsilon=eps), x)
