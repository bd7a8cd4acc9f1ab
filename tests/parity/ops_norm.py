"""Normalisations."""
import numpy as np

import thimble as tb
from layouts import channels_first, channels_last
from registry import op


def _weights(weight, bias):
    """Those of PyTorch; without any, the function itself and no layer that makes them."""
    return {"affine": False} if weight is None and bias is None else {"gamma": weight, "beta": bias}


def _first(result):
    """The result without the statistics, which thimble keeps to itself."""
    return result[0]


# A row of one number is its mean but for rounding, which 1 / sqrt(epsilon) makes 300 times as large.
@op("nn.functional.layer_norm", "layer_norm", times=10)
def layer_norm(x, shape, weight=None, bias=None, eps=1e-5):
    return tb.layer_norm(x, **_weights(weight, bias), dims=len(shape), epsilon=eps)


@op("native_layer_norm", "layer_norm", times=10, outputs=_first)
def native_layer_norm(x, shape, weight, bias, eps):
    return layer_norm(x, shape, weight, bias, eps)


@op("nn.functional.rms_norm", "rms_norm", times=4)
def rms_norm(x, shape, weight=None, eps=None):
    options = {"affine": False} if weight is None else {"gamma": weight}
    if eps is not None:
        options["epsilon"] = eps
    return tb.rms_norm(x, dims=len(shape), **options)


@op("nn.functional.group_norm", "group_norm", times=4)
def group_norm(x, groups, weight=None, bias=None, eps=1e-5):
    y = tb.group_norm(channels_last(x), **_weights(weight, bias), groups=groups, epsilon=eps)
    return channels_first(y)


@op("native_group_norm", "group_norm", times=4, outputs=_first)
def native_group_norm(x, weight, bias, batch, channels, size, groups, eps):
    return group_norm(x, groups, weight, bias, eps)


@op("nn.functional.instance_norm", "instance_norm", times=4)
def instance_norm(x, running_mean=None, running_var=None, weight=None, bias=None,
                  use_input_stats=True, momentum=0.1, eps=1e-5):
    x = channels_last(x)
    if not use_input_stats:
        return channels_first(
            tb.batch_norm_inference(x, weight, bias, running_mean, running_var, epsilon=eps))
    return channels_first(tb.instance_norm(x, **_weights(weight, bias), epsilon=eps))


def _batch_norm(x, mean, variance, weight, bias, training, eps):
    if x.shape == (0,):  # PyTorch asks of no numbers neither channels nor statistics
        none, one = tb.reshape(x, (0, 1)), np.ones(1, np.float32)
        return tb.reshape(_batch_norm(none, one, one, weight, bias, training, eps), (0,))
    x = channels_last(x)
    if not training:
        return channels_first(tb.batch_norm_inference(x, weight, bias, mean, variance, epsilon=eps))
    if all(each is None for each in (weight, bias, mean, variance)):
        return channels_first(tb.batch_norm(x, affine=False, track_running_stats=False, epsilon=eps))
    return channels_first(tb.batch_norm(x, weight, bias, mean, variance, epsilon=eps))


@op(["nn.functional.batch_norm", "nn.functional.batch_norm/without_cudnn"],
    "batch_norm batch_norm_inference", times=4)
def batch_norm(x, mean, variance, weight=None, bias=None, training=False, momentum=0.1, eps=1e-5):
    return _batch_norm(x, mean, variance, weight, bias, training, eps)


@op(["native_batch_norm", "_native_batch_norm_legit"], "batch_norm batch_norm_inference", times=4,
    outputs=_first)
def native_batch_norm(x, weight, bias, *rest):
    mean, variance, training, _, eps = rest if len(rest) == 5 else (None, None, *rest)
    return _batch_norm(x, mean, variance, weight, bias, training, eps)


@op("_batch_norm_with_update", "batch_norm", times=4, outputs=_first)
def batch_norm_with_update(x, weight, bias, mean, variance, momentum=0.1, eps=1e-5):
    return _batch_norm(x, mean, variance, weight, bias, True, eps)


@op("nn.functional.local_response_norm", "local_response_norm", times=4)
def local_response_norm(x, size, alpha=1e-4, beta=0.75, k=1.0):
    y = tb.local_response_norm(channels_last(x), size=size, alpha=alpha, beta=beta, k=k)
    return channels_first(y)
