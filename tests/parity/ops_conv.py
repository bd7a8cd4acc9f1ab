"""Convolutions."""
import thimble as tb
from layouts import channels_first, channels_last, pair, single
from registry import op


@op("nn.functional.conv1d", "conv1d", times=4)
def conv1d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    padding = 0 if padding == "valid" else padding if padding == "same" else single(padding)
    y = tb.conv1d(channels_last(x, 1), channels_last(weight), bias, stride=single(stride),
                  padding=padding, dilation=single(dilation), groups=groups)
    return channels_first(y, 1)


@op("nn.functional.conv2d", "conv2d", times=4)
def conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    padding = 0 if padding == "valid" else pair(padding)
    y = tb.conv2d(channels_last(x, 2), channels_last(weight), bias, stride=pair(stride),
                  padding=padding, dilation=pair(dilation), groups=groups)
    return channels_first(y, 2)


def triple(value):
    """PyTorch's 3 and (1, 2, 3) as thimble takes them."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _same(weight, dilation):
    """The padding "same" of each side: front, back, top, bottom, left, right."""
    dilations = (triple(dilation) * 3)[:3]
    totals = [d * (size - 1) for d, size in zip(dilations, weight.shape[2:])]
    return tuple(side for total in totals for side in (total // 2, total - total // 2))


@op("nn.functional.conv3d", "conv3d", times=12)  # weights sum over whole volumes
def conv3d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    sides = {"valid": 0, "same": 0}.get(padding, padding) if isinstance(padding, str) else padding
    sides = _same(weight, dilation) if padding == "same" else triple(sides)
    y = tb.conv3d(channels_last(x, 3), channels_last(weight), bias, stride=triple(stride),
                  padding=sides, dilation=triple(dilation), groups=groups)
    return channels_first(y, 3)


@op("nn.functional.conv_transpose1d", "conv_transpose1d", times=4)
def conv_transpose1d(x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1,
                     dilation=1):
    y = tb.conv_transpose1d(channels_last(x, 1), channels_last(weight), bias, stride=single(stride),
                            padding=single(padding), output_padding=single(output_padding),
                            groups=groups, dilation=single(dilation))
    return channels_first(y, 1)


@op("nn.functional.conv_transpose2d", "conv_transpose2d", times=4)
def conv_transpose2d(x, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1,
                     dilation=1):
    y = tb.conv_transpose2d(channels_last(x, 2), channels_last(weight), bias, stride=pair(stride),
                            padding=pair(padding), output_padding=pair(output_padding),
                            groups=groups, dilation=pair(dilation))
    return channels_first(y, 2)
