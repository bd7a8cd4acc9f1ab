"""ATen operators that read or write elements by several indices at once, or by their places in memory."""

from __future__ import annotations

import math
from typing import Any

from numpy import iinfo

from . import _core
from ._aten import Call, UnsupportedError, aten
from ._aten_shapes import _END


def _is_open(size: int) -> bool:
    return size % int(_core.OPEN_BATCH) == 0 and size > 0


# What hands numbers on in another shape.
SHAPING = ("unsqueeze", "view", "reshape", "expand", "slice", "alias", "clone")


def operator_of(x: Any) -> str:
    schema = getattr(x.target, "_schema", None)
    return "" if schema is None else str(schema.name).removeprefix("aten::")


def _is_count_of_samples(x: Any) -> bool:
    """Whether an index counts the samples, 0, 1, ..., along dimension 0, and has one number for each."""
    shapes = [x.meta["val"].shape]
    while operator_of(x) in SHAPING:
        x = x.args[0]
        shapes.append(x.meta["val"].shape)
    return operator_of(x) == "arange" and all(
        len(shape) > 0 and shape[0] == shapes[-1][0] and not isinstance(shape[0], int)
        and all(dim == 1 for dim in shape[1:]) for shape in shapes)


class _Places:
    """The elements that x[..., indices, ...] names: their numbers among those of the indexed axes."""

    def __init__(self, c: Call) -> None:
        self.c = c
        w = c.w
        torch = __import__("torch")
        given = [(axis, x) for axis, x in enumerate(c.arguments["indices"]) if x is not None]
        if any(str(x.meta["val"].dtype) == "torch.bool" for _, x in given):
            raise UnsupportedError("how many elements a mask chooses depends on the data")
        self.shape = c.shape("self")
        rank = len(self.shape)
        axes = [axis for axis, _ in given]
        broadcast = torch.broadcast_shapes(*(x.meta["val"].shape for _, x in given))
        self.places = c.plain(list(broadcast))
        # Each sample by itself: its index only counts the samples.
        self.of_samples = axes[0] == 0 and _is_open(self.shape[0])
        if self.of_samples:
            if not _is_count_of_samples(given[0][1]) or len(given[0][1].meta["val"].shape) != len(self.places):
                raise UnsupportedError("samples of the open batch are not taken by number")
            given, axes = given[1:], axes[1:]
        elif _is_open(math.prod(self.shape)) and _is_open(math.prod(self.places)):
            raise UnsupportedError("every sample would be indexed by all others")
        self.axes = axes
        self.rest = [axis for axis in range(rank) if axis not in axes and not (axis == 0 and self.of_samples)]
        self.order = [*([0] if self.of_samples else []), *self.rest, *axes]
        self.rest_sizes = [self.shape[axis] for axis in self.rest]
        self.count = math.prod(self.shape[axis] for axis in axes)
        self.inner = self.places[1:] if self.of_samples else self.places
        adjacent = axes == list(range(axes[0], axes[0] + len(axes))) if axes else True
        self.first = 0 if self.of_samples or not adjacent else axes[0]
        number = w.constant(0, "int64")
        step = self.count
        for axis, x in given:
            size = self.shape[axis]
            step //= size
            index = c.value(x, "int64")
            index = w("Where", w("Less", index, w.constant(0, "int64")),
                      w("Add", index, w.constant(size, "int64")), index)
            number = w("Add", number, w("Mul", index, w.constant(step, "int64")))
        self.numbers = w("Expand", number, w.integers(self.places))

    @property
    def samples(self) -> list[int]:
        return [self.shape[0]] if self.of_samples else []

    def wide(self, x: str) -> str:
        """The tensor with the indexed axes last, as one."""
        c = self.c
        x = c.w("Transpose", x, perm=self.order) if self.order != sorted(self.order) else x
        return c.w.reshape(x, [*self.samples, *self.rest_sizes, self.count])

    def back(self, x: str) -> str:
        c = self.c
        x = c.w.reshape(x, [self.shape[axis] for axis in self.order])
        perm = sorted(range(len(self.order)), key=lambda i: self.order[i])
        return c.w("Transpose", x, perm=perm) if perm != sorted(perm) else x

    @property
    def flat_shape(self) -> list[int]:
        return [*self.samples, *self.rest_sizes, math.prod(self.inner)]

    def expanded(self) -> str:
        """The number for each of the chosen elements."""
        c = self.c
        ones = [1] * len(self.rest)
        x = c.w.reshape(self.numbers, [*self.samples, *ones, math.prod(self.inner)])
        return c.w("Expand", x, c.w.integers(self.flat_shape))

    def perm(self) -> list[int]:
        """From [samples, rest, places] to the order of the result."""
        n, rest, inner = len(self.samples), len(self.rest), len(self.inner)
        before = list(range(n, n + self.first)) if not self.of_samples else []
        after = list(range(n + len(before), n + rest))
        return [*range(n), *before, *range(n + rest, n + rest + inner), *after]

    def result_shape(self) -> list[int]:
        sizes = [*self.samples, *self.rest_sizes, *self.inner]
        return [sizes[i] for i in self.perm()]


@aten("index")
def _index(c: Call) -> str:
    given = [(axis, x) for axis, x in enumerate(c.arguments["indices"]) if x is not None]
    is_mask = str(given[0][1].meta["val"].dtype) == "torch.bool"
    if len(given) == 1 and not is_mask and not _is_count_of_samples(given[0][1]):
        axis, index = given[0]
        if _is_open(c.shape("self")[axis]):
            raise UnsupportedError("samples of the open batch are not taken by number")
        return c.w("Gather", c.tensor("self"), c.value(index), axis=axis)
    places = _Places(c)
    wide = places.wide(c.tensor("self"))
    if places.of_samples:
        y = c.w("GatherElements", wide, places.expanded(), axis=len(places.flat_shape) - 1)
    else:
        flat = c.w.reshape(places.numbers, [math.prod(places.places)])
        y = c.w("Gather", wide, flat, axis=len(places.flat_shape) - 1)
    y = c.w.reshape(y, [*places.samples, *places.rest_sizes, *places.inner])
    perm = places.perm()
    return c.w("Transpose", y, perm=perm) if perm != sorted(perm) else y


def _put_by_mask(c: Call, axis: int, mask: Any) -> str:
    rank, covered = c.rank("self"), len(mask.meta["val"].shape)
    behind = rank - axis - covered
    values, sizes = c.tensor("values", c.dtype), c.shape("values")
    if len(sizes) > behind and math.prod(sizes) != 1:
        if math.prod(sizes[:len(sizes) - behind]) != 1:
            raise UnsupportedError("how many values a mask takes depends on the data")
    values = c.w.reshape(values, sizes[len(sizes) - behind:] if math.prod(sizes) != 1 and len(sizes) > behind else
                         sizes if math.prod(sizes) != 1 else [])
    where = c.w.reshape(c.value(mask), [*c.plain(list(mask.meta["val"].shape)), *([1] * behind)])
    old = c.tensor("self")
    if c.number("accumulate"):
        return c.w("Add", old, c.w("Where", where, values, c.w.constant(0, c.dtype)))
    return c.w("Where", where, values, old)


@aten("index_put")
def _index_put(c: Call) -> str:
    given = [(axis, x) for axis, x in enumerate(c.arguments["indices"]) if x is not None]
    if len(given) == 1 and str(given[0][1].meta["val"].dtype) == "torch.bool":
        return _put_by_mask(c, *given[0])
    places = _Places(c)
    if not places.axes:
        raise UnsupportedError("samples of the open batch are not replaced by number")
    values = c.w("Expand", c.tensor("values", c.dtype), c.w.integers(places.result_shape()))
    perm = places.perm()
    if perm != sorted(perm):
        values = c.w("Transpose", values, perm=sorted(range(len(perm)), key=lambda i: perm[i]))
    values = c.w.reshape(values, places.flat_shape)
    y = c.w("ScatterElements", places.wide(c.tensor("self")), places.expanded(), values,
            axis=len(places.flat_shape) - 1, reduction="add" if c.number("accumulate") else "none")
    return places.back(y)


@aten("diagonal")
def _diagonal(c: Call) -> str:
    shape, rank = c.shape("self"), c.rank("self")
    first, second = int(c.number("dim1")) % rank, int(c.number("dim2")) % rank
    if _is_open(shape[first]) or _is_open(shape[second]):
        raise UnsupportedError("a diagonal over the open batch")
    rest = [axis for axis in range(rank) if axis not in (first, second)]
    offset, columns = int(c.number("offset")), shape[second]
    count = c.result_shape[-1]
    places = [(i + max(-offset, 0)) * columns + i + max(offset, 0) for i in range(count)]
    x = c.tensor("self")
    order = [*rest, first, second]
    x = c.w("Transpose", x, perm=order) if order != sorted(order) else x
    x = c.w.reshape(x, [*(shape[axis] for axis in rest), shape[first] * columns])
    return c.w("Gather", x, c.w.integers(places), axis=len(rest))


@aten("as_strided")
def _as_strided(c: Call) -> str:
    shape, sizes, strides = c.shape("self"), c.result_shape, c.number("stride")
    first = int(c.number("storage_offset", 0))
    fake = c.fake("self")
    if not fake.is_contiguous() or fake.storage_offset() != 0:
        raise UnsupportedError("the places of a tensor that is itself a part of another one")
    samples: list[int] = []
    each = math.prod(shape)
    if shape and _is_open(shape[0]):
        each = math.prod(shape[1:])
        if not sizes or sizes[0] != shape[0] or strides[0] != each:
            raise UnsupportedError("places across the samples of the open batch")
        samples, sizes, strides = [shape[0]], sizes[1:], strides[1:]
    places = [first]
    for size, stride in zip(sizes, strides):
        places = [place + i * stride for place in places for i in range(size)]
    if places and max(places) >= each:
        raise UnsupportedError("places across the samples of the open batch")
    x = c.w("Gather", c.w.reshape(c.tensor("self"), [*samples, each]), c.w.integers(places), axis=len(samples))
    return c.w.reshape(x, [*samples, *sizes])


@aten("select_scatter", "slice_scatter")
def _slice_scatter(c: Call) -> str:
    axis, shape = c.axis(), c.shape("self")
    size, src = shape[axis], c.tensor("src", c.dtype)
    if c.has("index") or "index" in c.arguments:
        at = int(c.number("index"))
        taken = [at + size if at < 0 else at]
        src = c.w("Unsqueeze", src, c.w.integers([axis]))
    elif c.shape("src") == shape:
        return src
    else:
        given = slice(int(c.number("start", 0)), int(min(c.number("end", _END), _END)), int(c.number("step", 1)))
        taken = [] if _is_open(size) else list(range(*given.indices(size)))
    if _is_open(size):
        raise UnsupportedError("a part of the open batch")
    places = list(range(size))
    for i, place in enumerate(taken):
        places[place] = size + i
    both = c.w("Concat", c.tensor("self"), src, axis=axis)
    return c.w("Gather", both, c.w.integers(places), axis=axis)


@aten("scatter", "scatter_add", "scatter_reduce")
def _scatter(c: Call) -> str:
    reduce = c.number("reduce", "") if "reduce" in c.arguments else ""
    if c.node.target._schema.name == "aten::scatter_add":
        reduce = "sum"
    reduce = {"add": "sum", "multiply": "prod"}.get(reduce, reduce)
    axis, x, index = c.axis(), c.tensor("self"), c.tensor("index")
    if "src" in c.arguments:
        src = c.tensor("src", c.dtype)
        if c.shape("src") != c.shape("index"):
            raise UnsupportedError("expected an index for each element of the source")
    else:
        src = c.w("Expand", c.w.constant(c.number("value"), c.dtype), c.w.integers(c.shape("index")))
    keeps = bool(c.number("include_self", True))

    def put(to: str, values: str, how: str) -> str:
        return c.w("ScatterElements", to, index, values, axis=axis, reduction=how)

    if reduce == "":
        return put(x, src, "none")
    if reduce in ("sum", "mean"):
        zero = c.w("Mul", src, c.w.constant(0, c.dtype))
        y = put(x if keeps else put(x, zero, "none"), src, "add")
        if reduce == "sum":
            return y
        one = c.w("Expand", c.w.constant(1, c.dtype), c.w.integers(c.shape("index")))
        start = c.w("Expand", c.w.constant(1 if keeps else 0, c.dtype), c.w.integers(c.shape("self")))
        return c.w("Div", y, c.w("Max", put(start, one, "add"), c.w.constant(1, c.dtype)))
    return _reduced(c, axis, x, src, reduce, keeps)


def _reduced(c: Call, axis: int, x: str, src: str, reduce: str, keeps: bool) -> str:
    """Products and extremes: each element looks at all of the source along the axis."""
    shape, sizes = c.shape("self"), c.shape("index")
    if [n for i, n in enumerate(shape) if i != axis] != [n for i, n in enumerate(sizes) if i != axis]:
        raise UnsupportedError("expected an index for every place beside the axis")
    whole = iinfo(c.dtype) if c.dtype.startswith("int") else None
    least, most = (-math.inf, math.inf) if whole is None else (int(whole.min), int(whole.max))
    op, joined, nothing = {
        "prod": ("ReduceProd", "Mul", 1), "amax": ("ReduceMax", "Max", least), "amin": ("ReduceMin", "Min", most),
    }[reduce]
    last = len(shape)
    # [.., places, .., source along the axis last]
    numbers = c.w.reshape(c.w.integers(list(range(shape[axis]))), [shape[axis], *([1] * (last - axis))])
    perm = [*range(axis), last, *range(axis + 1, last), axis]

    def spread(value: str) -> str:
        value = c.w("Unsqueeze", value, c.w.integers([last]))
        return c.w("Transpose", value, perm=perm)

    chosen = c.w("Equal", spread(c.tensor("index")), numbers)
    found = c.w("Where", chosen, spread(src), c.w.constant(nothing, c.dtype))
    y = c.w(op, found, c.w.integers([last]), keepdims=0)
    if keeps:
        return c.w(joined, x, y)
    any_of = c.w("ReduceMax", c.w.cast(chosen, "float32"), c.w.integers([last]), keepdims=0)
    return c.w("Where", c.w("Greater", any_of, c.w.constant(0.0)), y, x)


@aten("masked_scatter")
def _masked_scatter(c: Call) -> str:
    shape = c.shape("self")
    if _is_open(math.prod(shape)):
        raise UnsupportedError("the samples of the open batch would take their values from one another")
    mask = c.w("Expand", c.tensor("mask"), c.w.integers(shape))
    counts = c.w("CumSum", c.w.cast(c.w.reshape(mask, [math.prod(shape)]), "int32"), c.w.constant(0, "int64"))
    place = c.w("Max", c.w("Sub", counts, c.w.constant(1, "int32")), c.w.constant(0, "int32"))
    source = c.w.reshape(c.tensor("source", c.dtype), [math.prod(c.shape("source"))])
    values = c.w.reshape(c.w("Gather", source, c.w.cast(place, "int64"), axis=0), shape)
    return c.w("Where", mask, values, c.tensor("self"))


@aten("sort")
def _sort(c: Call) -> tuple[str, ...]:
    made = (c.w.fresh(), c.w.fresh())
    axis = c.axis()
    size = c.shape("self")[axis]
    if _is_open(size):
        raise UnsupportedError("the samples of the open batch are not sorted")
    c.w("TopK", c.tensor("self"), c.w.integers([size]), outputs=made, axis=axis,
        largest=int(bool(c.number("descending", False))))
    return made
