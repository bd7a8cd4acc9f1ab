"""Losses."""
import numpy as np

import thimble as tb
from layouts import REDUCTIONS, channels_last
from registry import op


@op("nn.functional.mse_loss", "mse")
def mse_loss(x, target, reduction="mean", weight=None):
    return tb.mse(x, target, reduction=REDUCTIONS[reduction])


@op("nn.functional.l1_loss", "mae")
def l1_loss(x, target, reduction="mean"):
    return tb.mae(x, target, reduction=REDUCTIONS[reduction])


@op("nn.functional.huber_loss", "huber")
def huber_loss(x, target, reduction="mean", delta=1.0):
    return tb.huber(x, target, delta=delta, reduction=REDUCTIONS[reduction])


@op("nn.functional.smooth_l1_loss", "huber mae affine")
def smooth_l1_loss(x, target, reduction="mean", beta=1.0):
    if beta == 0:
        return tb.mae(x, target, reduction=REDUCTIONS[reduction])
    return tb.huber(x, target, delta=beta, reduction=REDUCTIONS[reduction]) / beta


@op("nn.functional.kl_div", "kl_divergence")
def kl_div(x, target, reduction="mean", log_target=False):
    return tb.kl_divergence(x, target, log_target=log_target, reduction=REDUCTIONS[reduction])


@op("nn.functional.binary_cross_entropy_with_logits", "binary_cross_entropy_with_logits", times=4)
def binary_cross_entropy_with_logits(x, target, weight=None, pos_weight=None, reduction="mean"):
    weights = {name: w for name, w in (("weight", weight), ("pos_weight", pos_weight))
               if w is not None}
    return tb.binary_cross_entropy_with_logits(x, target, **weights, reduction=REDUCTIONS[reduction])


@op("nn.functional.cross_entropy", "softmax_cross_entropy", times=4)
def cross_entropy(x, target, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    if x.ndim == 1:
        x, target = tb.reshape(x, (1, -1)), tb.reshape(target, (1, *target.shape))
    else:
        if target.ndim == x.ndim:
            target = channels_last(target)
        x = channels_last(x)
    return tb.softmax_cross_entropy(x, target, weight, reduction=_rows(reduction, target),
                                    label_smoothing=label_smoothing, ignore_index=ignore_index)


def _rows(reduction, target):
    """PyTorch divides the sum over rows of probabilities by the batch alone."""
    return "batch_mean" if reduction == "mean" and target.dtype == "f32" else REDUCTIONS[reduction]


@op("nn.functional.triplet_margin_loss", "triplet_margin", times=4)
def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False,
                        reduction="mean"):
    return tb.triplet_margin(anchor, positive, negative, margin=margin, p=p, epsilon=eps, swap=swap,
                             reduction=REDUCTIONS[reduction])


@op("nn.functional.triplet_margin_with_distance_loss", "triplet_margin", times=4)
def triplet_margin_with_distance_loss(anchor, positive, negative, distance_function=None, margin=1.0,
                                      swap=False, reduction="mean"):
    # The samples' distance is PairwiseDistance, which is triplet_margin's own.
    return triplet_margin_loss(anchor, positive, negative, margin=margin, swap=swap,
                               reduction=reduction)


@op("nn.functional.cosine_embedding_loss", "cosine_embedding", times=4)
def cosine_embedding_loss(a, b, target, margin=0.0, reduction="mean"):
    target = tb.stop_gradient(target)  # the target chooses; PyTorch's gradient by it is 0
    return tb.cosine_embedding(a, b, target, margin=margin, reduction=REDUCTIONS[reduction])


# 50 steps of sums of exponentials.
@op("nn.functional.ctc_loss", "ctc", times=50)
def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean",
             zero_infinity=False):
    logits = tb.transpose(log_probs, (1, 0, 2))
    return tb.ctc(logits, targets, _lengths(input_lengths), _lengths(target_lengths), blank=blank,
                  reduction=REDUCTIONS[reduction], zero_infinity=zero_infinity)


def _lengths(lengths):
    return np.asarray(lengths, np.int32) if isinstance(lengths, (list, tuple)) else lengths
