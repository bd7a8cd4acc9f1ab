"""ATen operators that are composed of several: distances, bags of embeddings, samples of images, random numbers."""

from __future__ import annotations

import math

from ._aten import OWN, Call, UnsupportedError, aten
from ._aten_places import SHAPING, _is_count_of_samples, _is_open, operator_of
from ._aten_shapes import _filled


@aten("atan2")
def _atan2(c: Call) -> str:
    return c.w("Atan2", c.tensor("self", c.dtype), c.tensor("other", c.dtype), domain=OWN)


@aten("trunc", "fix")
def _trunc(c: Call) -> str:
    x = c.tensor("self")
    if c.dtype.startswith(("int", "uint")):
        return c.w("Identity", x)
    return c.w("Mul", c.w("Sign", x), c.w("Floor", c.w("Abs", x)))


@aten("any", "all")
def _any(c: Call) -> str:
    rank, given = c.rank("self"), c.number("dim")
    axes = given if isinstance(given, list) else list(range(rank)) if given is None else [given]
    op = "ReduceMin" if c.node.target._schema.name == "aten::all" else "ReduceMax"
    x = c.w.cast(c.w.cast(c.tensor("self"), "bool"), "float32")
    if axes or rank:
        x = c.w(op, x, c.w.integers([axis % max(rank, 1) for axis in axes or range(rank)]),
                keepdims=int(c.number("keepdim", False)))
    return c.w.cast(x, "bool")


@aten("copy")
def _copy(c: Call) -> str:
    return c.w("Expand", c.tensor("src", c.dtype), c.w.integers(c.result_shape))


@aten("fill")
def _fill(c: Call) -> str:
    return c.w("Expand", c.value(c.arguments["value"], c.dtype), c.w.integers(c.result_shape))


@aten("empty_strided", "empty_permuted")
def _empty(c: Call) -> str:
    return _filled(c, 0)


@aten("scalar_tensor")
def _scalar_tensor(c: Call) -> str:
    return c.w.constant(c.number("s"), c.dtype)


@aten("arange")
def _arange(c: Call) -> str:
    """One that is no constant counts the samples: what it is an index of knows it and reads no numbers."""
    waiting, counts = list(c.node.users), True
    while waiting:
        user = waiting.pop()
        name = operator_of(user)
        if name in SHAPING:
            waiting += list(user.users)
        counts &= name in (*SHAPING, "index", "index_put", "_embedding_bag")
    if not counts or c.number("start", 0) != 0:
        raise UnsupportedError("numbers that count the samples of the open batch")
    return c.w("Expand", c.w.constant(0, "int64"), c.w.integers(c.result_shape))


def _norm_of(c: Call, difference: str, p: float) -> str:
    """The norm over the last axis, whose gradient at 0 is 0."""
    w, axis = c.w, len(c.result.shape)
    size = w("Abs", difference)
    axes = w.integers([axis])
    if p == 0:
        return w("ReduceSum", w("Sign", size), axes, keepdims=0)
    if p == 1:
        return w("ReduceSum", size, axes, keepdims=0)
    if p == math.inf:
        return w("ReduceMax", size, axes, keepdims=0)
    zero, one = w.constant(0.0), w.constant(1.0)
    if p == 2:
        powers = w("Mul", size, size)
    else:
        none = w("Equal", size, zero)
        powers = w("Where", none, zero, w("Pow", w("Where", none, one, size), w.constant(p)))
    total = w("ReduceSum", powers, axes, keepdims=0)
    none = w("Equal", total, zero)
    root = w("Where", none, one, total)
    root = w("Sqrt", root) if p == 2 else w("Pow", root, w.constant(1.0 / p))
    return w("Where", none, zero, root)


@aten("_cdist_forward", "cdist")
def _cdist(c: Call) -> str:
    rank = len(c.result.shape)
    first = c.w("Unsqueeze", c.tensor("x1"), c.w.integers([c.rank("x1") - 1]))
    second = c.w("Unsqueeze", c.tensor("x2"), c.w.integers([c.rank("x2") - 2]))
    sizes = [*c.result_shape, c.shape("x1")[-1]]
    assert len(sizes) == rank + 1
    return _norm_of(c, c.w("Sub", first, second), float(c.number("p")))


@aten("_pdist_forward", "pdist")
def _pdist(c: Call) -> str:
    rows = c.shape("self")[0]
    if _is_open(rows):
        raise UnsupportedError("distances between the samples of the open batch")
    pairs = [(i, j) for i in range(rows) for j in range(i + 1, rows)]
    sides = [c.w("Gather", c.tensor("self"), c.w.integers([pair[side] for pair in pairs]), axis=0) for side in (0, 1)]
    return _norm_of(c, c.w("Sub", *sides), float(c.number("p", 2.0)))


@aten("_embedding_bag", "_embedding_bag_forward_only")
def _embedding_bag(c: Call) -> tuple[str, ...]:
    offsets = c.arguments["offsets"]
    step = offsets.args[2] if _is_count_of_samples(offsets) and len(offsets.args) > 2 else None
    if not isinstance(step, int) or c.number("include_last_offset"):
        raise UnsupportedError("expected a matrix of indices, a bag in each row; other bags have sizes that depend on the data")
    w, mode = c.w, int(c.number("mode"))
    bags = c.result_shape[0]
    index = w.reshape(c.tensor("indices", "int64"), [bags, step])
    rows = w("Gather", c.tensor("weight"), index)
    pad = int(c.number("padding_idx", -1))
    axes = w.integers([1])
    if mode == 2:
        if pad >= 0:
            raise UnsupportedError("thimble imports the largest of a bag without a padding index")
        return (w("ReduceMax", rows, axes, keepdims=0), "", "", "")
    if c.has("per_sample_weights"):
        rows = w("Mul", rows, w.reshape(c.tensor("per_sample_weights"), [bags, step, 1]))
    count = w.constant(float(step))
    if pad >= 0:
        kept = w.cast(w("Not", w("Equal", index, w.constant(pad, "int64"))), "float32")
        rows = w("Mul", rows, w.reshape(kept, [bags, step, 1]))
        count = w("Max", w("ReduceSum", kept, axes, keepdims=1), w.constant(1.0))
    total = w("ReduceSum", rows, axes, keepdims=0)
    return (w("Div", total, count) if mode == 1 else total, "", "", "")


@aten("grid_sampler_2d", "grid_sampler_3d", "grid_sampler")
def _grid_sampler(c: Call) -> str:
    mode = ("linear", "nearest", "cubic")[int(c.number("interpolation_mode"))]
    padding = ("zeros", "border", "reflection")[int(c.number("padding_mode"))]
    return c.w("GridSample", c.tensor("input"), c.tensor("grid"), mode=mode, padding_mode=padding,
               align_corners=int(bool(c.number("align_corners"))))


@aten("col2im")
def _col2im(c: Call) -> str:
    x, is_one = c.tensor("self"), c.rank("self") == 2
    if is_one:
        x = c.w("Unsqueeze", x, c.w.integers([0]))
    pads = c.pair("padding", 2)
    y = c.w("Col2Im", x, c.w.integers(c.pair("output_size", 2)), c.w.integers(c.pair("kernel_size", 2)),
            dilations=c.pair("dilation", 2), pads=[*pads, *pads], strides=c.pair("stride", 2))
    return c.w("Squeeze", y, c.w.integers([0])) if is_one else y


@aten("rand", "randn", "rand_like", "randn_like")
def _random(c: Call) -> str:
    if c.dtype != "float32":
        raise UnsupportedError("thimble draws float32")
    op = "RandomNormalLike" if "randn" in c.node.target._schema.name else "RandomUniformLike"
    return c.w(op, _filled(c, 0))
