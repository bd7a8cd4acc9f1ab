"""Other shapes and orders of the same elements."""
import math

import numpy as np

import thimble as tb
from layouts import is_value, moved
from registry import VALUE_PLACES, Refused, op


@op(["reshape", "view", "view_copy"], "reshape")
def reshape(x, shape):
    return tb.reshape(x, shape)


@op(["reshape_as", "view_as"], "reshape")
def reshape_as(x, other):
    return tb.reshape(x, other.shape)


@op("ravel", "reshape")
def ravel(x):
    return tb.reshape(x, (-1,))


@op("flatten", "flatten reshape")
def flatten(x, start_dim=0, end_dim=-1):
    if x.ndim == 0:
        return tb.reshape(x, (1,))
    first, last = start_dim % x.ndim, end_dim % x.ndim
    if first == 1 and last == x.ndim - 1:
        return tb.flatten(x)
    shape = x.shape
    return tb.reshape(x, (*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :]))


@op("unflatten", "reshape")
def unflatten(x, dim, sizes):
    dim %= x.ndim
    rest = math.prod(size for size in sizes if size >= 0)
    sizes = [x.shape[dim] // rest if size < 0 else size for size in sizes]
    return tb.reshape(x, (*x.shape[:dim], *sizes, *x.shape[dim + 1 :]))


@op(["squeeze", "squeeze/multiple", "squeeze_copy"], "reshape")
def squeeze(x, dim=None):
    dims = range(x.ndim) if dim is None else [dim] if isinstance(dim, int) else dim
    gone = {d % max(x.ndim, 1) for d in dims}
    return tb.reshape(x, [n for d, n in enumerate(x.shape) if d not in gone or n != 1])


@op(["unsqueeze", "unsqueeze_copy"], "reshape")
def unsqueeze(x, dim):
    dim %= x.ndim + 1
    return tb.reshape(x, (*x.shape[:dim], 1, *x.shape[dim:]))


@op("atleast_1d", "reshape")
def atleast_1d(*tensors):
    return _all(tensors, lambda x: tb.reshape(x, (1,)) if x.ndim == 0 else x)


@op("atleast_2d", "reshape")
def atleast_2d(*tensors):
    return _all(tensors, _two)


@op("atleast_3d", "reshape")
def atleast_3d(*tensors):
    return _all(tensors, lambda x: tb.reshape(_two(x), (*_two(x).shape, 1)) if x.ndim < 3 else x)


def _all(tensors, function):
    tensors = tensors[0] if isinstance(tensors[0], (list, tuple)) else tensors
    return [function(x) for x in tensors]


def _two(x):
    return tb.reshape(x, (1, -1) if x.ndim else (1, 1)) if x.ndim < 2 else x


@op(["permute", "permute_copy"], "transpose")
def permute(x, dims):
    return tb.transpose(x, [d % x.ndim for d in dims])


@op(["transpose", "transpose_copy"], "transpose")
def transpose(x, first, second):
    if x.ndim == 0:
        return x
    axes = list(range(x.ndim))
    axes[first], axes[second] = axes[second], axes[first]
    return tb.transpose(x, axes)


@op(["T", "t", "t_copy"], "transpose")
def reversed_axes(x):
    return tb.transpose(x)


@op(["mT", "mH"], "transpose")
def matrix_transpose(x):
    return moved(x, -1, -2)


@op("H", "transpose")
def adjoint(x):
    return tb.transpose(x)


@op("movedim", "transpose")
def movedim(x, source, destination):
    source = [source] if isinstance(source, int) else source
    destination = [destination] if isinstance(destination, int) else destination
    places = {d % x.ndim: s % x.ndim for s, d in zip(source, destination)}
    left = iter([i for i in range(x.ndim) if i not in places.values()])
    return tb.transpose(x, [places[i] if i in places else next(left) for i in range(x.ndim)])


@op("flip", "flip")
def flip(x, dims):
    return tb.flip(x, axes=dims) if dims else x


@op("fliplr", "flip")
def fliplr(x):
    return tb.flip(x, axes=(1,))


@op("flipud", "flip")
def flipud(x):
    return tb.flip(x, axes=(0,))


@op(["expand", "expand_copy"], "broadcast_to")
def expand(x, shape):
    own = (1,) * (len(shape) - x.ndim) + tuple(x.shape)
    return tb.broadcast_to(x, [o if n < 0 else n for n, o in zip(shape, own)])


@op("expand_as", "broadcast_to")
def expand_as(x, other):
    return tb.broadcast_to(x, other.shape)


@op("broadcast_to", "broadcast_to")
def broadcast_to(x, shape):
    return tb.broadcast_to(x, shape)


@op("broadcast_tensors", "broadcast_to")
def broadcast_tensors(*tensors):
    shape = np.broadcast_shapes(*(x.shape for x in tensors))
    return [tb.broadcast_to(x, shape) for x in tensors]


@op("cat", "concat")
def cat(tensors, dim=0):
    # PyTorch's older habit: vectors without elements beside anything.
    kept = [x for x in tensors if x.shape != (0,)] or tensors
    return tb.concat(kept, axis=dim)


@op("stack", "concat reshape")
def stack(tensors, dim=0):
    return tb.concat([unsqueeze(x, dim) for x in tensors], axis=dim)


@op("hstack", "concat")
def hstack(*tensors):
    tensors = atleast_1d(*tensors)
    return tb.concat(tensors, axis=0 if tensors[0].ndim == 1 else 1)


@op("vstack", "concat")
def vstack(*tensors):
    return tb.concat(atleast_2d(*tensors), axis=0)


@op("dstack", "concat")
def dstack(*tensors):
    return tb.concat(atleast_3d(*tensors), axis=2)


@op("column_stack", "concat")
def column_stack(*tensors):
    columns = _all(tensors, lambda x: tb.reshape(x, (-1, 1)) if x.ndim < 2 else x)
    return tb.concat(columns, axis=1)


def _sections(size, count):
    """Sizes of count parts as equal as can be, the larger first."""
    return [size // count + (i < size % count) for i in range(count)]


def _chunks(size, length):
    return [min(length, size - i) for i in range(0, max(size, 1), length)]


@op(["split", "split/list_args", "unsafe_split", "split_with_sizes", "split_with_sizes_copy"], "split")
def split(x, sizes, dim=0):
    sizes = _chunks(x.shape[dim], sizes) if isinstance(sizes, int) else sizes
    return tb.split(x, axis=dim, sizes=sizes)


@op(["chunk", "unsafe_chunk"], "split")
def chunk(x, chunks, dim=0):
    return split(x, -(-x.shape[dim] // chunks), dim)


def _split_at(x, where, dim):
    size = x.shape[dim]
    if isinstance(where, int):
        return tb.split(x, axis=dim, sizes=_sections(size, where))
    edges = [0, *where, size]
    return tb.split(x, axis=dim, sizes=[b - a for a, b in zip(edges, edges[1:])])


@op("hsplit", "split")
def hsplit(x, where):
    return _split_at(x, where, 0 if x.ndim == 1 else 1)


@op("vsplit", "split")
def vsplit(x, where):
    return _split_at(x, where, 0)


@op("dsplit", "split")
def dsplit(x, where):
    return _split_at(x, where, 2)


@op(["unbind", "unbind_copy"], "Value.__iter__")
def unbind(x, dim=0):
    return list(moved(x, dim, 0))


@op("nn.functional.pixel_shuffle", "pixel_shuffle")
def pixel_shuffle(x, upscale_factor):
    return moved(tb.pixel_shuffle(moved(x, -3, -1), factor=upscale_factor), -1, -3)


@op("nn.functional.pixel_unshuffle", "pixel_unshuffle")
def pixel_unshuffle(x, downscale_factor):
    return moved(tb.pixel_unshuffle(moved(x, -3, -1), factor=downscale_factor), -1, -3)


@op("nn.functional.channel_shuffle", "channel_shuffle")
def channel_shuffle(x, groups):
    return moved(tb.channel_shuffle(moved(x, 1, -1), groups=groups), -1, 1)


@op("tensor_split", "split")
def tensor_split(x, where, dim=0):
    if is_value(where):
        raise Refused(VALUE_PLACES)
    return _split_at(x, where, dim)


@op("roll", "roll")
def roll(x, shifts, dims=()):
    def numbers(given):
        return tuple(given) if isinstance(given, (tuple, list)) else (given,)

    return tb.roll(x, shifts=numbers(shifts), axes=numbers(dims))


@op("tril", "tril")
def tril(x, diagonal=0):
    return tb.tril(x, diagonal=diagonal)


@op("triu", "triu")
def triu(x, diagonal=0):
    return tb.triu(x, diagonal=diagonal)
