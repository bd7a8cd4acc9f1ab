"""Images of other sizes."""
import ops_pool  # noqa: F401  the adapters of adaptive pooling
import thimble as tb
from layouts import channels_first, channels_last, pair, single
from registry import OPS, op


def _pads(x, pad):
    """PyTorch's pairs, the last axis first, as counts before and after every axis."""
    before, after = [0] * x.ndim, [0] * x.ndim
    for i in range(len(pad) // 2):
        before[x.ndim - 1 - i], after[x.ndim - 1 - i] = pad[2 * i], pad[2 * i + 1]
    return before, after


def _padded(x, pad, mode, value=0.0):
    before, after = _pads(x, pad)
    options = {} if mode == "constant" else {"mode": mode}
    return tb.pad(x, before=before, after=after, value=value or 0.0, **options)


@op("constant_pad_nd", "pad")
def constant_pad_nd(x, pad, value=0.0):
    return _padded(x, pad, "constant", value)


@op(["nn.functional.pad/constant", "nn.functional.pad/reflect", "nn.functional.pad/replicate",
     "nn.functional.pad/replicate_negative", "nn.functional.pad/circular"], "pad")
def pad(x, pad, mode="constant", value=0.0):
    return _padded(x, pad, mode, value)


def _upsampled(x, size, scale_factor, mode, align_corners=None, recompute=False):
    dims = x.ndim - 2
    if scale_factor is not None and recompute:
        size = [int(n * scale_factor) for n in x.shape[2:]]
        scale_factor = None
    options = {"mode": mode, "align_corners": bool(align_corners)}
    if size is not None:
        options["size"] = size if dims == 3 else single(size) if dims == 1 else pair(size)
    if scale_factor is not None:
        options["scale"] = single(scale_factor)
    function = {1: tb.upsample1d, 2: tb.upsample2d, 3: tb.upsample3d}[dims]
    return channels_first(function(channels_last(x), **options))


MODES = {"nearest": "nearest", "nearest-exact": "nearest_exact", "linear": "bilinear",
         "bilinear": "bilinear", "bicubic": "bicubic", "trilinear": "bilinear"}


@op(["nn.functional.interpolate/nearest", "nn.functional.interpolate/nearest-exact",
     "nn.functional.interpolate/linear", "nn.functional.interpolate/bilinear",
     "nn.functional.interpolate/bicubic", "nn.functional.interpolate/trilinear"],
    "upsample1d upsample2d upsample3d", times=4)
def interpolate(x, size=None, scale_factor=None, mode="nearest", align_corners=None,
                recompute_scale_factor=None, antialias=False):
    return _upsampled(x, size, scale_factor, MODES[mode], align_corners, recompute_scale_factor)


@op("nn.functional.interpolate/area",
    "adaptive_average_pool1d adaptive_average_pool2d adaptive_average_pool3d")
def area(x, size=None, scale_factor=None, mode="area", align_corners=None,
         recompute_scale_factor=None, antialias=False):
    dims = x.ndim - 2
    if size is None:
        size = [int(n * scale_factor) for n in x.shape[2:]]
    name = f"nn.functional.adaptive_avg_pool{dims}d"
    return OPS[name].call(x, size)


@op("nn.functional.upsample_nearest", "upsample1d upsample2d upsample3d")
def upsample_nearest(x, size=None, scale_factor=None):
    return _upsampled(x, size, scale_factor, "nearest")


@op("nn.functional.upsample_bilinear", "upsample2d", times=4)
def upsample_bilinear(x, size=None, scale_factor=None):
    return _upsampled(x, size, scale_factor, "bilinear", align_corners=True)


_GRID_MODES = ["bilinear", "nearest", "bicubic"]  # as torch.ops.aten.grid_sampler_2d and _3d count them
_GRID_PADDINGS = ["zeros", "border", "reflection"]


@op("nn.functional.grid_sample", "grid_sample", times=10)  # points move by their last bit
def grid_sample(x, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    y = tb.grid_sample(channels_last(x), grid, mode=mode, padding=padding_mode,
                       align_corners=bool(align_corners))
    return channels_first(y)


@op(["grid_sampler_2d", "grid_sampler_3d"], "grid_sample", times=10)
def grid_sampler(x, grid, mode, padding, align_corners):
    return grid_sample(x, grid, _GRID_MODES[mode], _GRID_PADDINGS[padding], align_corners)


@op("nn.functional.unfold", "unfold")
def unfold(x, kernel_size, dilation=1, padding=0, stride=1):
    y = tb.unfold(channels_last(x, 2), kernel=pair(kernel_size), dilation=pair(dilation),
                  padding=pair(padding), stride=pair(stride))
    channels = x.shape[-3]
    places, width = y.shape[-2:]
    lead = y.shape[:-2]
    y = tb.reshape(y, (*lead, places, width // channels, channels))
    axes = list(range(len(lead)))
    y = tb.transpose(y, [*axes, len(lead) + 2, len(lead) + 1, len(lead)])
    return tb.reshape(y, (*lead, width, places))
