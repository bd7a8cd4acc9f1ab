"""Modules that are a function of torch.nn.functional: their weights and settings are its arguments."""
import ops_attention  # noqa: F401  the functions' adapters
import ops_conv  # noqa: F401
import ops_image  # noqa: F401
import ops_index  # noqa: F401
import ops_loss  # noqa: F401
import ops_matmul  # noqa: F401
import ops_norm  # noqa: F401
import ops_pool  # noqa: F401
import ops_shape  # noqa: F401
import ops_unary  # noqa: F401
import thimble as tb
from layouts import channels_first, channels_last
from registry import OPS, module

_CONV = "stride padding dilation groups"
_TRANSPOSED = "stride padding output_padding groups dilation"
_POOL = "kernel_size stride padding ceil_mode count_include_pad"
_MAX = "kernel_size stride padding dilation ceil_mode return_indices"

# Of each module: the function, the weights that follow its inputs, then the settings: attributes of
# the module, each with the argument's name after a colon where that is another.
_TABLE = {
    "nn.Linear": ("nn.functional.linear", "weight bias", ""),
    "nn.Conv1d": ("nn.functional.conv1d", "weight bias", _CONV),
    "nn.Conv2d": ("nn.functional.conv2d", "weight bias", _CONV),
    "nn.Conv3d": ("nn.functional.conv3d", "weight bias", _CONV),
    "nn.LazyConv1d": ("nn.functional.conv1d", "weight bias", _CONV),
    "nn.LazyConv2d": ("nn.functional.conv2d", "weight bias", _CONV),
    "nn.LazyConv3d": ("nn.functional.conv3d", "weight bias", _CONV),
    "nn.ConvTranspose1d": ("nn.functional.conv_transpose1d", "weight bias", _TRANSPOSED),
    "nn.ConvTranspose2d": ("nn.functional.conv_transpose2d", "weight bias", _TRANSPOSED),
    "nn.LazyConvTranspose1d": ("nn.functional.conv_transpose1d", "weight bias", _TRANSPOSED),
    "nn.LazyConvTranspose2d": ("nn.functional.conv_transpose2d", "weight bias", _TRANSPOSED),
    "nn.AvgPool1d": ("nn.functional.avg_pool1d", "", _POOL),
    "nn.AvgPool2d": ("nn.functional.avg_pool2d", "", _POOL + " divisor_override"),
    "nn.AvgPool3d": ("nn.functional.avg_pool3d", "", _POOL + " divisor_override"),
    "nn.MaxPool1d": ("nn.functional.max_pool1d", "", _MAX),
    "nn.MaxPool2d": ("nn.functional.max_pool2d", "", _MAX),
    "nn.MaxPool3d": ("nn.functional.max_pool3d", "", _MAX),
    "nn.AdaptiveAvgPool1d": ("nn.functional.adaptive_avg_pool1d", "", "output_size:size"),
    "nn.AdaptiveAvgPool2d": ("nn.functional.adaptive_avg_pool2d", "", "output_size:size"),
    "nn.AdaptiveAvgPool3d": ("nn.functional.adaptive_avg_pool3d", "", "output_size:size"),
    "nn.AdaptiveMaxPool1d": ("nn.functional.adaptive_max_pool1d", "",
                             "output_size:size return_indices"),
    "nn.AdaptiveMaxPool2d": ("nn.functional.adaptive_max_pool2d", "",
                             "output_size:size return_indices"),
    "nn.AdaptiveMaxPool3d": ("nn.functional.adaptive_max_pool3d", "",
                             "output_size:size return_indices"),
    "nn.LocalResponseNorm": ("nn.functional.local_response_norm", "", "size alpha beta k"),
    "nn.ReLU": ("nn.functional.relu", "", ""),
    "nn.ReLU6": ("nn.functional.relu6", "", ""),
    "nn.SELU": ("nn.functional.selu", "", ""),
    "nn.SiLU": ("nn.functional.silu", "", ""),
    "nn.Mish": ("nn.functional.mish", "", ""),
    "nn.ELU": ("nn.functional.elu", "", "alpha"),
    "nn.CELU": ("nn.functional.celu", "", "alpha"),
    "nn.GELU": ("nn.functional.gelu", "", "approximate"),
    "nn.GLU": ("nn.functional.glu", "", "dim"),
    "nn.PReLU": ("nn.functional.prelu", "weight", ""),
    "nn.LeakyReLU": ("nn.functional.leaky_relu", "", "negative_slope"),
    "nn.Hardswish": ("nn.functional.hardswish", "", ""),
    "nn.Hardtanh": ("nn.functional.hardtanh", "", "min_val max_val"),
    "nn.LogSigmoid": ("nn.functional.logsigmoid", "", ""),
    "nn.Softplus": ("nn.functional.softplus", "", "beta threshold"),
    "nn.Softsign": ("nn.functional.softsign", "", ""),
    "nn.Tanhshrink": ("nn.functional.tanhshrink", "", ""),
    "nn.Sigmoid": ("sigmoid", "", ""),
    "nn.Tanh": ("tanh", "", ""),
    "nn.Softmax": ("softmax", "", "dim"),
    "nn.LogSoftmax": ("log_softmax", "", "dim"),
    "nn.Softmin": ("nn.functional.softmin", "", "dim"),
    "nn.L1Loss": ("nn.functional.l1_loss", "", "reduction"),
    "nn.MSELoss": ("nn.functional.mse_loss", "", "reduction"),
    "nn.SmoothL1Loss": ("nn.functional.smooth_l1_loss", "", "reduction beta"),
    "nn.HuberLoss": ("nn.functional.huber_loss", "", "reduction delta"),
    "nn.KLDivLoss": ("nn.functional.kl_div", "", "reduction log_target"),
    "nn.CosineEmbeddingLoss": ("nn.functional.cosine_embedding_loss", "", "margin reduction"),
    "nn.Hardshrink": ("nn.functional.hardshrink", "", "lambd"),
    "nn.Softshrink": ("nn.functional.softshrink", "", "lambd"),
    "nn.Threshold": ("nn.functional.threshold", "", "threshold value"),
    "nn.MarginRankingLoss": ("nn.functional.margin_ranking_loss", "", "margin reduction"),
    "nn.HingeEmbeddingLoss": ("nn.functional.hinge_embedding_loss", "", "margin reduction"),
    "nn.SoftMarginLoss": ("nn.functional.soft_margin_loss", "", "reduction"),
    "nn.MultiLabelMarginLoss": ("nn.functional.multilabel_margin_loss", "", "reduction"),
    "nn.PoissonNLLLoss": ("nn.functional.poisson_nll_loss", "", "log_input full eps reduction"),
    "nn.GaussianNLLLoss": ("nn.functional.gaussian_nll_loss", "", "full eps reduction"),
    "nn.NLLLoss": ("nn.functional.nll_loss", "weight", "ignore_index reduction"),
    "nn.BCELoss": ("nn.functional.binary_cross_entropy", "weight", "reduction"),
    "nn.MultiLabelSoftMarginLoss": ("nn.functional.multilabel_soft_margin_loss", "weight",
                                    "reduction"),
    "nn.CTCLoss": ("nn.functional.ctc_loss", "", "blank reduction zero_infinity"),
}


def _functional(name, function, weights, settings):
    pairs = [setting.split(":") for setting in settings.split()]

    @module(name, " ".join(OPS[function].ours), times=OPS[function].times)
    def call(m, w, *inputs, **others):
        options = {pair[-1]: getattr(m, pair[0]) for pair in pairs}
        if "input" in others:
            inputs = (others.pop("input"), *inputs)
        return OPS[function].call(*inputs, *(w.get(each) for each in weights.split()), **options,
                                  **others)


for _name, _row in _TABLE.items():
    _functional(_name, *_row)


@module("nn.Softmax2d", "softmax")
def softmax2d(m, w, x):
    return OPS["softmax"].call(x, -3)


@module("nn.Embedding", "embedding")
def embedding(m, w, indices):
    return OPS["nn.functional.embedding"].call(w["weight"], indices, m.padding_idx, m.max_norm,
                                               m.norm_type, m.scale_grad_by_freq, m.sparse)


@module("nn.BCEWithLogitsLoss", "binary_cross_entropy_with_logits", times=4)
def bce_with_logits(m, w, x, target):
    return OPS["nn.functional.binary_cross_entropy_with_logits"].call(
        x, target, w.get("weight"), w.get("pos_weight"), m.reduction)


@module("nn.CrossEntropyLoss", "softmax_cross_entropy", times=4)
def cross_entropy(m, w, x, target):
    return OPS["nn.functional.cross_entropy"].call(
        x, target, w.get("weight"), m.ignore_index, m.reduction, m.label_smoothing)


@module("nn.MultiMarginLoss", "multi_margin")
def multi_margin(m, w, x, target):
    return OPS["nn.functional.multi_margin_loss"].call(x, target, m.p, m.margin, w.get("weight"),
                                                       m.reduction)


def _lp_pool(dims):
    @module(f"nn.LPPool{dims}d", "lp_pool2d", times=10)
    def call(m, w, x):
        sides = {"kernel": m.kernel_size, "stride": m.stride}
        if dims == 1:  # of images one row high
            sides = {name: n and (1, n) for name, n in sides.items()}
            x = tb.reshape(x, (*x.shape[:-1], 1, x.shape[-1]))
        sides = {name: n for name, n in sides.items() if n is not None}
        y = tb.lp_pool2d(channels_last(x, 2), p=m.norm_type, ceil_mode=m.ceil_mode, **sides)
        y = channels_first(y, 2)
        return tb.reshape(y, (*y.shape[:-2], y.shape[-1])) if dims == 1 else y


_lp_pool(1)
_lp_pool(2)


# The sides that images have, by the module's name.
_SIDES = {"1d": 1, "2d": 2, "3d": 3}


def _pad(name, mode):
    @module(name, "pad")
    def call(m, w, x):
        pads = m.padding if isinstance(m.padding, tuple) else (m.padding,) * 2 * _SIDES[name[-2:]]
        return OPS[f"nn.functional.pad/{mode}"].call(x, pads, mode, getattr(m, "value", 0.0))


for _kind, _mode in {"Constant": "constant", "Zero": "constant", "Reflection": "reflect",
                     "Replication": "replicate", "Circular": "circular"}.items():
    for _dims in _SIDES:
        _pad(f"nn.{_kind}Pad{_dims}", _mode)
