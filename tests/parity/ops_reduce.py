"""Reductions, running sums, and places of the largest."""
import numpy as np

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
                     "max/reduction_no_dim": "max", "min/reduction_no_dim": "min",
                     "prod": "prod", "logsumexp": "logsumexp"}.items():
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
            return getattr(tb, name)(x, flat=True)
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


def _running(name):
    @op(name, name)
    def call(x, dim):
        values, indices = getattr(tb, name)(vector(x), axis=dim)
        return like(values, x), like(indices, x)


_running("cummax")
_running("cummin")


@op("topk", "topk")
def topk(x, k, dim=-1, largest=True, sorted=True):
    values, indices = tb.topk(vector(x), k=k, axis=dim, largest=largest)
    return like(values, x), like(indices, x)


@op("nn.functional.normalize", "normalize norm")
def normalize(x, p=2.0, dim=1, eps=1e-12):
    if p <= 0:  # which normalize, of norms alone, does not take
        length = tb.norm(x, axes=(dim,), keepdims=True, p=p)
        return x / tb.maximum(length, np.float32(eps))
    return like(tb.normalize(vector(x), axis=dim, p=p, epsilon=eps), x)


@op("cumprod", "cumprod")
def cumprod(x, dim, dtype=None):
    only_f32(dtype)
    return like(tb.cumprod(vector(x), axis=dim), x)


def _spread(x, dim, unbiased, correction, keepdim):
    if isinstance(dim, bool):  # var(x, unbiased)
        dim, unbiased = None, dim
    if unbiased is not None:
        correction = int(unbiased)
    return {"axes": _axes(x, dim), "keepdims": keepdim and x.ndim > 0,
            "correction": 1 if correction is None else correction}


def _spreads(ours, name):
    @op([name, f"{name}/unbiased"], ours, times=4)
    def call(x, dim=None, unbiased=None, keepdim=False, correction=None):
        return getattr(tb, ours)(x, **_spread(x, dim, unbiased, correction, keepdim))

    @op([f"{name}_mean", f"{name}_mean/unbiased"], f"{ours} mean", times=4)
    def both(x, dim=None, unbiased=None, keepdim=False, correction=None):
        options = _spread(x, dim, unbiased, correction, keepdim)
        spread = getattr(tb, ours)(x, **options)
        return spread, tb.mean(x, axes=options["axes"], keepdims=options["keepdims"])


_spreads("variance", "var")
_spreads("standard_deviation", "std")


@op(["norm", "norm/fro", "norm/inf"], "norm", times=4)
def norm(x, p="fro", dim=None, keepdim=False, dtype=None):
    only_f32(dtype)
    p = 2.0 if p in ("fro", None) else p
    return tb.norm(x, p=p, axes=_axes(x, dim), keepdims=keepdim and x.ndim > 0)


@op("linalg.vector_norm", "norm", times=4)
def vector_norm(x, ord=2, dim=None, keepdim=False, dtype=None):
    return norm(x, ord, dim, keepdim, dtype)


@op("dist", "norm sub", times=4)
def dist(a, b, p=2):
    return tb.norm(a - b, p=p)


@op("nn.functional.cosine_similarity", "cosine_similarity", times=4)
def cosine_similarity(a, b, dim=1, eps=1e-8):
    return tb.cosine_similarity(vector(a), vector(b), axis=dim, epsilon=eps)


@op("nn.functional.pairwise_distance", "pairwise_distance", times=4)
def pairwise_distance(a, b, p=2.0, eps=1e-6, keepdim=False):
    return tb.pairwise_distance(a, b, p=p, epsilon=eps, keepdims=keepdim)
