"""Losses."""
import numpy as np

import thimble as tb
from layouts import REDUCTIONS, channels_last, f32, is_value
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


@op("nn.functional.smooth_l1_loss", "smooth_l1")
def smooth_l1_loss(x, target, reduction="mean", beta=1.0):
    return tb.smooth_l1(x, target, beta=beta, reduction=REDUCTIONS[reduction])


@op("nn.functional.soft_margin_loss", "soft_margin")
def soft_margin_loss(x, target, reduction="mean"):
    return tb.soft_margin(x, f32(target), reduction=REDUCTIONS[reduction])


@op("nn.functional.hinge_embedding_loss", "hinge_embedding")
def hinge_embedding_loss(x, target, margin=1.0, reduction="mean"):
    return tb.hinge_embedding(x, f32(target), margin=margin, reduction=REDUCTIONS[reduction])


@op("nn.functional.margin_ranking_loss", "margin_ranking")
def margin_ranking_loss(a, b, target, margin=0.0, reduction="mean"):
    return tb.margin_ranking(a, b, f32(target), margin=margin, reduction=REDUCTIONS[reduction])


@op("nn.functional.poisson_nll_loss", "poisson_nll", times=4)
def poisson_nll_loss(x, target, log_input=True, full=False, size_average=None, eps=1e-8,
                     reduction="mean"):
    return tb.poisson_nll(x, target, log_input=log_input, full=full, epsilon=eps,
                          reduction=REDUCTIONS[reduction])


@op("nn.functional.gaussian_nll_loss", "gaussian_nll", times=4)
def gaussian_nll_loss(x, target, var, full=False, eps=1e-6, reduction="mean"):
    if var.shape == x.shape[:-1] and var.ndim:  # of rows
        var = tb.reshape(var, (*var.shape, 1))
    return tb.gaussian_nll(x, target, var, full=full, epsilon=eps, reduction=REDUCTIONS[reduction])


@op("nn.functional.multi_margin_loss", "multi_margin")
def multi_margin_loss(x, labels, p=1, margin=1.0, weight=None, reduction="mean"):
    x, labels, rows = _rows_of(x, labels, 1)
    y = tb.multi_margin(x, labels, weight, p=p, margin=margin, reduction=REDUCTIONS[reduction])
    return rows(y)


@op("nn.functional.multilabel_margin_loss", "multilabel_margin")
def multilabel_margin_loss(x, labels, reduction="mean"):
    x, labels, rows = _rows_of(x, labels, 2)
    return rows(tb.multilabel_margin(x, labels, reduction=REDUCTIONS[reduction]))


def _rows_of(x, labels, rank):
    """A row of classes that has no batch as a batch of one; the last function takes it off again."""
    if x.ndim == 2:
        return x, labels, lambda y: y
    labels = tb.reshape(labels, (1,) if rank == 1 else (1, -1))
    return tb.reshape(x, (1, -1)), labels, lambda y: tb.reshape(y, ())


@op("nn.functional.multilabel_soft_margin_loss", "multilabel_soft_margin")
def multilabel_soft_margin_loss(x, target, weight=None, reduction="mean"):
    return tb.multilabel_soft_margin(x, f32(target), weight, reduction=REDUCTIONS[reduction])


@op("nn.functional.binary_cross_entropy", "binary_cross_entropy", times=4)
def binary_cross_entropy(x, target, weight=None, reduction="mean"):
    return tb.binary_cross_entropy(x, target, weight, reduction=REDUCTIONS[reduction])


@op("nn.functional.nll_loss", "nll")
def nll_loss(x, target, weight=None, ignore_index=-100, reduction="mean"):
    if x.ndim == 1:
        y = tb.nll(tb.reshape(x, (1, -1)), tb.reshape(target, (1,)), weight,
                   ignore_index=ignore_index, reduction=REDUCTIONS[reduction])
        return tb.reshape(y, ())
    return tb.nll(channels_last(x), target, weight, ignore_index=ignore_index,
                  reduction=REDUCTIONS[reduction])


@op("nn.functional.kl_div", "kl_divergence")
def kl_div(x, target, reduction="mean", log_target=False):
    if x.ndim == 0 and reduction == "batchmean":  # of one number: itself
        reduction = "sum"
    return tb.kl_divergence(x, target, log_target=log_target, reduction=REDUCTIONS[reduction])


@op("nn.functional.binary_cross_entropy_with_logits", "binary_cross_entropy_with_logits", times=4)
def binary_cross_entropy_with_logits(x, target, weight=None, pos_weight=None, reduction="mean"):
    return tb.binary_cross_entropy_with_logits(x, target, weight, pos_weight,
                                               reduction=REDUCTIONS[reduction])


@op("nn.functional.cross_entropy", "softmax_cross_entropy", times=4)
def cross_entropy(x, target, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    if x.ndim == 1:  # without a batch
        one, target = tb.reshape(x, (1, -1)), tb.reshape(target, (1, *target.shape))
        y = cross_entropy(one, target, weight, ignore_index, reduction, label_smoothing)
        return tb.reshape(y, ())
    if target.ndim == x.ndim:
        target = channels_last(target)
    x = channels_last(x)
    return tb.softmax_cross_entropy(x, target, weight, reduction=REDUCTIONS[reduction],
                                    label_smoothing=label_smoothing, ignore_index=ignore_index)


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
    if log_probs.ndim == 2:  # without a batch
        y = ctc_loss(tb.reshape(log_probs, (log_probs.shape[0], 1, -1)), _row(targets),
                     _row(input_lengths), _row(target_lengths), blank, reduction, zero_infinity)
        return tb.reshape(y, ())
    logits = tb.transpose(log_probs, (1, 0, 2))
    if targets.ndim == 1:
        targets = _rows_of_targets(targets, target_lengths)
    return tb.ctc(logits, targets, _lengths(input_lengths), _lengths(target_lengths), blank=blank,
                  reduction=REDUCTIONS[reduction], zero_infinity=zero_infinity)


def _row(x):
    return tb.reshape(x, (1, -1) if x.ndim else (1,)) if is_value(x) else [x]


def _rows_of_targets(targets, lengths):
    """One after the other, as PyTorch takes them too, as rows padded with what follows."""
    counts = tb.cast(lengths, "f32") if is_value(lengths) else np.asarray(lengths, np.float32)
    total = targets.shape[0]
    starts = tb.cumsum(counts, axis=0) - counts
    rows = tb.reshape(starts, (-1, 1)) + np.arange(total, dtype=np.float32)
    places = tb.cast(tb.clip(rows, low=0, high=total - 1), "i32")
    return tb.reshape(tb.index_select(targets, tb.reshape(places, (-1,))), places.shape)


def _lengths(lengths):
    return np.asarray(lengths, np.int32) if isinstance(lengths, (list, tuple)) else lengths
