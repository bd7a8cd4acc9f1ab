"""ATen operators that move elements, look them up or make them."""

from __future__ import annotations

from typing import Any

from . import _core
from ._aten import Call, UnsupportedError, aten

_END = (1 << 31) - 1


@aten("view", "_unsafe_view", "reshape", "flatten", "unflatten")
def _view(c: Call) -> str:
    return c.w.reshape(c.tensor("self"), c.result_shape)


@aten("squeeze", "unsqueeze")
def _squeeze(c: Call) -> str:
    # Sizes of 1 come and go: the axes that stay are found by those that are named.
    name = c.node.target._schema.name
    x, given = c.tensor("self"), c.number("dim")
    if name == "aten::unsqueeze":
        rank = c.rank("self") + 1
        return c.w("Unsqueeze", x, c.w.integers([int(given) % rank]))
    shape, rank = c.shape("self"), c.rank("self")
    axes = range(rank) if given is None else given if isinstance(given, list) else [given]
    gone = [axis % rank for axis in axes if shape[axis % rank] == 1]
    return c.w("Squeeze", x, c.w.integers(gone)) if gone else x


@aten("permute", "transpose", "t")
def _permute(c: Call) -> str:
    rank = c.rank("self")
    axes = list(range(rank))
    name = c.node.target._schema.name
    if name == "aten::permute":
        axes = [axis % rank for axis in c.number("dims")]
    elif rank >= 2:
        first, second = (c.number("dim0"), c.number("dim1")) if name == "aten::transpose" else (0, 1)
        axes[first % rank], axes[second % rank] = second % rank, first % rank
    return c.w("Transpose", c.tensor("self"), perm=axes)


@aten("expand")
def _expand(c: Call) -> str:
    return c.w("Expand", c.tensor("self"), c.w.integers(c.result_shape))


@aten("repeat")
def _repeat(c: Call) -> str:
    times = c.number("repeats")
    x, shape = c.tensor("self"), c.shape("self")
    wider = [*(1 for _ in range(len(times) - len(shape))), *shape]
    if wider != shape:
        x = c.w.reshape(x, wider)
    if all(n == 1 or size == 1 for n, size in zip(times, wider)):
        return c.w("Expand", x, c.w.integers(c.result_shape))
    return c.w("Tile", x, c.w.integers(times))


@aten("cat", "stack")
def _cat(c: Call) -> str:
    tensors = c.arguments["tensors"]
    axis = c.axis(rank=len(c.result.shape))
    if c.node.target._schema.name == "aten::stack":
        parts = [c.w("Unsqueeze", c.value(x, c.dtype), c.w.integers([axis])) for x in tensors]
    else:
        parts = [c.value(x, c.dtype) for x in tensors if tuple(x.meta["val"].shape) != (0,)]
    return c.w("Concat", *parts, axis=axis)


def _sliced(c: Call, axis: int, start: int, stop: int, step: int = 1) -> str:
    parts = (c.w.integers([n]) for n in (start, min(stop, _END), axis, step))
    return c.w("Slice", c.tensor("self"), *parts)


@aten("slice")
def _slice(c: Call) -> str:
    axis = c.axis()
    size = c.shape("self")[axis]
    start, stop = c.number("start", 0), c.number("end", _END)
    if start == 0 and c.number("step") == 1 and c.result_shape == c.shape("self"):
        return c.tensor("self")
    if size % int(_core.OPEN_BATCH) == 0:
        raise UnsupportedError("a part of the open batch")
    return _sliced(c, axis, start, stop, c.number("step", 1))


@aten("narrow")
def _narrow(c: Call) -> str:
    start = c.number("start")
    return _sliced(c, c.axis(), start, start + c.number("length"))


@aten("select")
def _select(c: Call) -> str:
    axis = c.axis()
    return c.w("Gather", c.tensor("self"), c.w.constant(c.number("index"), "int64"), axis=axis)


@aten("split", "split_with_sizes", "chunk", "unbind")
def _split(c: Call) -> tuple[str, ...]:
    axis = c.axis()
    parts = c.node.meta["val"]
    made = tuple(c.w.fresh() for _ in parts)
    is_unbind = c.node.target._schema.name == "aten::unbind"
    sizes = [1 if is_unbind else part.shape[axis] for part in parts]
    c.w("Split", c.tensor("self"), c.w.integers(sizes), outputs=made, axis=axis)
    return tuple(c.w("Squeeze", x, c.w.integers([axis])) for x in made) if is_unbind else made


@aten("flip")
def _flip(c: Call) -> str:
    x, rank = c.tensor("self"), c.rank("self")
    axes = [axis % rank for axis in c.number("dims")]
    low = -_END
    lists = ([-1] * len(axes), [low] * len(axes), axes, [-1] * len(axes))
    return c.w("Slice", x, *(c.w.integers(each) for each in lists))


@aten("roll")
def _roll(c: Call) -> str:
    x, shape = c.tensor("self"), c.shape("self")
    shifts, axes = c.number("shifts"), c.number("dims")
    if not axes:
        raise UnsupportedError("axes must be given")
    for shift, axis in zip(shifts, axes):
        axis %= len(shape)
        first = (shape[axis] - shift) % shape[axis]
        if first == 0:
            continue
        parts = []
        for start, stop in ((first, _END), (0, first)):
            parts.append(c.w("Slice", x, *(c.w.integers([n]) for n in (start, stop, axis))))
        x = c.w("Concat", *parts, axis=axis)
    return x


@aten("tril", "triu")
def _triangle(c: Call) -> str:
    upper = int(c.node.target._schema.name == "aten::triu")
    return c.w("Trilu", c.tensor("self"), c.w.constant(c.number("diagonal"), "int64"), upper=upper)


@aten("gather")
def _gather(c: Call) -> str:
    return c.w("GatherElements", c.tensor("self"), c.tensor("index"), axis=c.axis())


@aten("index_select")
def _index_select(c: Call) -> str:
    return c.w("Gather", c.tensor("self"), c.tensor("index"), axis=c.axis())


@aten("embedding")
def _embedding(c: Call) -> str:
    row = c.number("padding_idx", -1)
    table, indices = c.tensor("weight"), c.tensor("indices")
    if row < 0:
        return c.w("Gather", table, indices)
    return c.w("Embedding", table, indices, domain="thimble", padding_idx=row)


@aten("one_hot")
def _one_hot(c: Call) -> str:
    classes = c.result_shape[-1]
    values = c.w.constant([0, 1], "int64")
    return c.w("OneHot", c.tensor("self"), c.w.constant(classes, "int64"), values)


_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}


def _padded(c: Call, pads: list[int], mode: str, value: Any) -> str:
    rank = c.rank("self")
    before, after = [0] * rank, [0] * rank
    for i in range(len(pads) // 2):
        before[rank - 1 - i], after[rank - 1 - i] = pads[2 * i], pads[2 * i + 1]
    inputs = [c.tensor("self"), c.w.integers([*before, *after])]
    if mode == "constant":
        inputs.append(c.w.constant(0 if value is None else value, c.dtype))
    return c.w("Pad", *inputs, mode=_MODES[mode])


@aten("pad", "constant_pad_nd")
def _pad(c: Call) -> str:
    return _padded(c, c.number("pad"), c.number("mode", "constant"), c.number("value"))


@aten(*(f"{mode}_pad{n}d" for mode in ("reflection", "replication") for n in (1, 2, 3)))
def _pad_by_mode(c: Call) -> str:
    mode = "reflect" if "reflection" in c.node.target._schema.name else "replicate"
    return _padded(c, c.number("padding"), mode, None)


def _filled(c: Call, value: Any) -> str:
    return c.w("Expand", c.w.constant(value, c.dtype), c.w.integers(c.result_shape))


@aten("full", "full_like", "new_full")
def _full(c: Call) -> str:
    return _filled(c, c.number("fill_value"))


@aten("zeros", "zeros_like", "new_zeros", "empty", "empty_like")
def _zeros(c: Call) -> str:
    return _filled(c, 0)


@aten("ones", "ones_like", "new_ones")
def _ones(c: Call) -> str:
    return _filled(c, 1)


@aten("pixel_shuffle", "pixel_unshuffle")
def _pixel_shuffle(c: Call) -> str:
    shape = c.shape("self")
    x = c.tensor("self")
    if len(shape) != 4:
        raise UnsupportedError("expected images [N, C, H, W]")
    n, channels, height, width = shape
    if c.node.target._schema.name == "aten::pixel_shuffle":
        return c.w("DepthToSpace", x, blocksize=c.number("upscale_factor"), mode="CRD")
    r = c.number("downscale_factor")
    x = c.w.reshape(x, [n, channels, height // r, r, width // r, r])
    x = c.w("Transpose", x, perm=[0, 1, 3, 5, 2, 4])
    return c.w.reshape(x, c.result_shape)
