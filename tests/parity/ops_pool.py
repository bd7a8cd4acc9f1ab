"""Pooling."""
import thimble as tb
from layouts import channels_first, channels_last, pair, single
from ops_conv import triple
from registry import op


def _options(**options):
    """Those that are set: the others keep thimble's defaults, which are PyTorch's."""
    return {name: value for name, value in options.items() if value not in (None, False)}


@op("nn.functional.avg_pool1d", "average_pool1d")
def avg_pool1d(x, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    y = tb.average_pool1d(channels_last(x, 1), kernel=single(kernel_size), padding=single(padding),
                          count_include_pad=count_include_pad,
                          **_options(stride=single(stride), ceil_mode=ceil_mode))
    return channels_first(y, 1)


@op("nn.functional.avg_pool2d", "average_pool2d")
def avg_pool2d(x, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
               divisor_override=None):
    y = tb.average_pool2d(channels_last(x, 2), kernel=pair(kernel_size), padding=pair(padding),
                          count_include_pad=count_include_pad,
                          **_options(stride=pair(stride), ceil_mode=ceil_mode, divisor=divisor_override))
    return channels_first(y, 2)


@op("nn.functional.avg_pool3d", "average_pool3d")
def avg_pool3d(x, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
               divisor_override=None):
    y = tb.average_pool3d(channels_last(x, 3), kernel=triple(kernel_size), padding=triple(padding),
                          count_include_pad=count_include_pad,
                          **_options(stride=stride and triple(stride), ceil_mode=ceil_mode,
                                     divisor=divisor_override))
    return channels_first(y, 3)


@op("nn.functional.max_pool3d", "max_pool3d max_pool3d_with_indices")
def max_pool3d(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
               return_indices=False):
    function = tb.max_pool3d_with_indices if return_indices else tb.max_pool3d
    y = function(channels_last(x, 3), kernel=triple(kernel_size), padding=triple(padding),
                 **_options(stride=stride and triple(stride), ceil_mode=ceil_mode,
                            dilation=triple(dilation)))
    return [channels_first(each, 3) for each in y] if return_indices else channels_first(y, 3)


@op("nn.functional.max_pool1d", "max_pool1d max_pool1d_with_indices")
def max_pool1d(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
               return_indices=False):
    return _max("max_pool1d", x, 1, return_indices, kernel=single(kernel_size),
                padding=single(padding),
                **_options(stride=single(stride), ceil_mode=ceil_mode, dilation=single(dilation)))


@op("nn.functional.max_pool2d", "max_pool2d max_pool2d_with_indices")
def max_pool2d(x, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False,
               return_indices=False):
    return _max("max_pool2d", x, 2, return_indices, kernel=pair(kernel_size), padding=pair(padding),
                **_options(stride=pair(stride), ceil_mode=ceil_mode, dilation=pair(dilation)))


def _max(name, x, dims, return_indices, **options):
    if return_indices:
        both = getattr(tb, name + "_with_indices")(channels_last(x, dims), **options)
        return [channels_first(y, dims) for y in both]
    return channels_first(getattr(tb, name)(channels_last(x, dims), **options), dims)


def _size(size):
    """None: as the image, which is 0."""
    return tuple(0 if n is None else n for n in size) if isinstance(size, (list, tuple)) else size


@op("nn.functional.adaptive_avg_pool1d", "adaptive_average_pool1d")
def adaptive_avg_pool1d(x, size):
    return channels_first(tb.adaptive_average_pool1d(channels_last(x, 1), size=single(size)), 1)


@op("nn.functional.adaptive_avg_pool2d", "adaptive_average_pool2d")
def adaptive_avg_pool2d(x, size):
    return channels_first(tb.adaptive_average_pool2d(channels_last(x, 2), size=_size(size)), 2)


@op("nn.functional.adaptive_avg_pool3d", "adaptive_average_pool3d")
def adaptive_avg_pool3d(x, size):
    size = _size(size)
    size = size if isinstance(size, tuple) else (size,)
    return channels_first(tb.adaptive_average_pool3d(channels_last(x, 3), size=size), 3)


@op("nn.functional.adaptive_max_pool1d", "adaptive_max_pool1d adaptive_max_pool1d_with_indices")
def adaptive_max_pool1d(x, size, return_indices=False):
    return _max("adaptive_max_pool1d", x, 1, return_indices, size=single(size))


@op("nn.functional.adaptive_max_pool2d", "adaptive_max_pool2d adaptive_max_pool2d_with_indices")
def adaptive_max_pool2d(x, size, return_indices=False):
    return _max("adaptive_max_pool2d", x, 2, return_indices, size=_size(size))


@op("nn.functional.adaptive_max_pool3d", "adaptive_max_pool3d adaptive_max_pool3d_with_indices")
def adaptive_max_pool3d(x, size, return_indices=False):
    size = _size(size)
    return _max("adaptive_max_pool3d", x, 3, return_indices,
                size=size if isinstance(size, tuple) else (size,))
