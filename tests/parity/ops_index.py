"""Elements by their place."""
import thimble as tb
from layouts import is_value, like, vector, wrapped
from registry import PRODUCTS, VALUE_PLACES, VALUE_SHAPES, Refused, op


def _is_mask(key):
    return is_value(key) and key.dtype in ("u8", "bool")


@op("__getitem__", "Value.__getitem__ slice")
def getitem(x, key):
    if _is_mask(key):
        raise Refused(VALUE_SHAPES)
    return x[key]


@op("select", "Value.__getitem__ slice")
def select(x, dim, index):
    return x[(slice(None),) * (dim % x.ndim) + (index,)]


@op("slice", "Value.__getitem__ slice")
def slice_(x, dim=0, start=None, end=None, step=1):
    return x[(slice(None),) * (dim % x.ndim) + (slice(start, end, step),)]


@op(["narrow", "narrow_copy"], "slice index_select")
def narrow(x, dim, start, length):
    if not isinstance(start, int):  # a start that is computed
        raise Refused(VALUE_PLACES)
    start %= x.shape[dim]
    return tb.slice(x, axes=(dim,), starts=(start,), stops=(start + length,))


@op("gather", "gather")
def gather(x, dim, index):
    if 0 in index.shape:  # PyTorch takes one of any rank
        none = tb.gather(vector(x), tb.reshape(tb.cast(index, "i32"), (0,)), axis=0)
        return tb.reshape(none, index.shape)
    return like(tb.gather(vector(x), tb.cast(vector(index), "i32"), axis=dim), index)


@op("take_along_dim", "gather broadcast_to")
def take_along_dim(x, index, dim=None):
    if dim is None:
        return take(x, tb.reshape(index, (-1,)))
    dim %= x.ndim
    index = wrapped(index, x.shape[dim])
    rest = [max(a, b) for a, b in zip(x.shape, index.shape)]
    wide = tb.broadcast_to(x, [*rest[:dim], x.shape[dim], *rest[dim + 1 :]])
    index = tb.broadcast_to(index, [*rest[:dim], index.shape[dim], *rest[dim + 1 :]])
    return tb.gather(wide, index, axis=dim)


@op("index_select", "index_select")
def index_select(x, dim, index):
    return like(tb.index_select(vector(x), index, axis=dim), x)


@op("scatter_add", "scatter_add")
def scatter_add(x, dim, index, source):
    return like(tb.scatter_add(vector(x), vector(index), vector(source), axis=dim), x)


@op("nn.functional.one_hot", "one_hot")
def one_hot(x, num_classes=-1):
    if num_classes < 0:
        raise Refused(VALUE_SHAPES)
    return tb.cast(tb.one_hot(x, classes=num_classes), "i32")


@op("nn.functional.embedding", "embedding")
def embedding(weight, indices, padding_idx=None, max_norm=None, norm_type=2.0,
              scale_grad_by_freq=False, sparse=False):
    options = {}
    if padding_idx is not None:
        options["padding_idx"] = padding_idx % weight.shape[0]
    if max_norm is not None:
        options.update(max_norm=max_norm, norm_type=norm_type)
    if scale_grad_by_freq:
        options["scale_grad_by_freq"] = True
    return tb.embedding(indices, weight, **options)


@op("sort", "sort")
def sort(x, dim=-1, descending=False, stable=False):
    values, places = tb.sort(vector(x), axis=dim, descending=descending)
    return like(values, x), like(places, x)


@op("argsort", "argsort")
def argsort(x, dim=-1, descending=False, stable=False):
    return like(tb.argsort(vector(x), axis=dim, descending=descending), x)


@op("msort", "sort")
def msort(x):
    return like(tb.sort(vector(x), axis=0)[0], x)


@op("scatter", "scatter scatter_add broadcast_to")
def scatter(x, dim, index, source, reduce=None):
    if reduce == "multiply":
        raise Refused(PRODUCTS)
    y, index = vector(x), vector(index)
    if not is_value(source):
        if reduce is None:
            return like(tb.scatter(y, index, axis=dim, value=source), x)
        source = tb.broadcast_to(source, index.shape)
    function = tb.scatter if reduce is None else tb.scatter_add
    return like(function(y, index, vector(source), axis=dim), x)


@op("take", "gather")
def take(x, index):
    flat = tb.reshape(x, (-1,))
    places = wrapped(tb.reshape(index, (-1,)), flat.shape[0])
    return tb.reshape(tb.gather(flat, places, axis=0), index.shape)


@op("index_add", "scatter_add broadcast_to")
def index_add(x, dim, index, source, alpha=1):
    y, source = vector(x), vector(source)
    places = [1] * y.ndim
    places[dim] = -1
    index = tb.broadcast_to(tb.reshape(vector(index), places), source.shape)
    return like(tb.scatter_add(y, index, source if alpha == 1 else alpha * source, axis=dim), x)
