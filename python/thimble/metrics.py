"""Scores of classifiers from arrays of labels and predictions.

    scores = trainer.predict(data, "logits")
    matrix = tb.metrics.confusion_matrix(labels, scores)
    print(tb.metrics.f1(matrix), tb.metrics.roc_auc(labels, scores))

The formulas are scikit-learn's. As metrics of a graph, computed over all samples of an epoch while it is
evaluated: confusion_matrix, precision_score, recall_score and f1_score of thimble.ops.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Average: TypeAlias = Literal["binary", "micro", "macro", "weighted"]
_AVERAGES = ("binary", "micro", "macro", "weighted")

# A confusion matrix of so many is half a gigabyte.
_MOST_CLASSES = 8192

__all__ = ["accuracy", "confusion_matrix", "f1", "precision", "recall", "roc_auc", "top_k_accuracy"]


def _labels(labels: Any) -> NDArray[np.int64]:
    array = np.asarray(labels)
    if array.dtype == bool:
        array = array.astype(np.int64)
    if not np.issubdtype(array.dtype, np.integer):
        raise TypeError(f"[metrics] expected labels of integers, got {array.dtype}")
    return array.reshape(-1).astype(np.int64)


def _rows(labels: Any, scores: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Labels and [labels, classes] scores."""
    flat = _labels(labels)
    rows = np.asarray(scores, np.float64)
    if rows.ndim < 2 or rows.size != flat.size * rows.shape[-1]:
        raise ValueError(
            f"[metrics] expected scores [{flat.size}, classes] for {flat.size} labels, got "
            f"{list(rows.shape)}"
        )
    return flat, rows.reshape(flat.size, rows.shape[-1])


def confusion_matrix(
    labels: Any, predictions: Any, classes: int | None = None
) -> NDArray[np.int64]:
    """How often each label (row) was taken for each class (column), [classes, classes].

    labels: integers; one that is no class counts nowhere. predictions: classes, as integers of the
    labels' shape, or scores with an axis of classes behind it, of which the highest counts (a row with
    NaN counts nowhere). classes: how many; none: as many as the scores have, or occur. Matrices of
    several batches may be added up."""
    given = np.asarray(predictions)
    if np.issubdtype(given.dtype, np.integer) or given.dtype == bool:
        flat, taken = _labels(labels), _labels(given)
        if flat.shape != taken.shape:
            raise ValueError(
                f"[metrics] expected a prediction for each of {flat.size} labels, got {taken.size}"
            )
        if classes is None:
            classes = int(max(flat.max(initial=-1), taken.max(initial=-1))) + 1
            if classes > _MOST_CLASSES:
                raise ValueError(
                    f"[metrics] {classes - 1} occurs, but more than {_MOST_CLASSES} classes are counted "
                    "only if classes says how many there are"
                )
        if ((taken < 0) | (taken >= classes)).any():
            raise ValueError(f"[metrics] expected predictions from 0 to {classes - 1}")
        counted = np.ones(flat.size, bool)
    else:
        flat, rows = _rows(labels, given)
        classes = rows.shape[1] if classes is None else classes
        if classes != rows.shape[1]:
            raise ValueError(f"[metrics] expected scores of {classes} classes, got {rows.shape[1]}")
        counted = np.asarray(~np.isnan(rows).any(1))
        taken = np.where(np.isnan(rows), -np.inf, rows).argmax(1)
    counted &= (flat >= 0) & (flat < classes)
    places = flat[counted] * classes + taken[counted]
    return np.bincount(places, minlength=classes * classes).reshape(classes, classes)


def _share(top: Any, bottom: Any) -> Any:
    """The quotient; 0 for 0 / 0."""
    bottom = np.asarray(bottom, np.float64)
    return np.divide(top, bottom, out=np.zeros_like(bottom), where=bottom > 0)


def _averaged(matrix: Any, average: Average, positive: int, kind: str) -> float:
    counts = np.asarray(matrix, np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1]:
        raise ValueError(f"[metrics] expected a confusion matrix, got shape {list(counts.shape)}")
    if average not in _AVERAGES:
        raise ValueError(f"[metrics] average: expected one of {', '.join(_AVERAGES)}, got {average!r}")
    both, label, predicted = counts.diagonal(), counts.sum(1), counts.sum(0)
    if average == "micro":
        both, label, predicted = both.sum(), label.sum(), predicted.sum()
    scores = {
        "precision": lambda: _share(both, predicted),
        "recall": lambda: _share(both, label),
        "f1": lambda: _share(2 * both, label + predicted),
    }[kind]()
    if average == "micro":
        return float(scores)
    if average == "binary":
        if not 0 <= positive < len(counts):
            raise ValueError(f"[metrics] positive: expected one of {len(counts)} classes, got {positive}")
        return float(scores[positive])
    weights = label if average == "weighted" else (label + predicted > 0).astype(np.float64)
    return float(_share((weights * scores).sum(), weights.sum()))


def precision(matrix: Any, average: Average = "macro", positive: int = 1) -> float:
    """Of the samples taken for a class, the share that belongs to it, from a confusion matrix.

    average: "binary", that of the class `positive`; "micro", of all decisions together; "macro", the
    mean over the classes that occur; "weighted", their mean by how often each is the label."""
    return _averaged(matrix, average, positive, "precision")


def recall(matrix: Any, average: Average = "macro", positive: int = 1) -> float:
    """Of the samples of a class, the share that was taken for it; average and positive as for precision."""
    return _averaged(matrix, average, positive, "recall")


def f1(matrix: Any, average: Average = "macro", positive: int = 1) -> float:
    """The harmonic mean of precision and recall; average and positive as for precision."""
    return _averaged(matrix, average, positive, "f1")


def accuracy(matrix: Any) -> float:
    """The share of a confusion matrix that lies on its diagonal."""
    counts = np.asarray(matrix, np.float64)
    return float(_share(counts.trace(), counts.sum()))


def _area(is_class: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """From the ranks of the class's scores, equal ones sharing the mean of theirs (Mann and Whitney)."""
    of_class = int(is_class.sum())
    others = is_class.size - of_class
    if of_class == 0 or others == 0:
        raise ValueError("[metrics] the area under the curve needs samples of both classes")
    _, group, sizes = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(sizes) - (sizes - 1) / 2)[group.reshape(-1)]
    return float((ranks[is_class].sum() - of_class * (of_class + 1) / 2) / (of_class * others))


def roc_auc(labels: Any, scores: Any) -> float:
    """The area under the receiver operating characteristic, exact, by sorting: how probable it is that a
    sample of class 1 has a higher score than one of class 0, equal scores counting half.

    scores: of class 1, in the shape of labels (0 or 1); or of every class, with an axis of classes
    behind it: then the mean over the classes of each one's area against all others."""
    flat, given = _labels(labels), np.asarray(scores, np.float64)
    if np.isnan(given).any():
        raise ValueError("[metrics] a score is NaN")
    if given.ndim == 0 and flat.size != 1:
        raise ValueError(f"[metrics] expected a score for each of {flat.size} labels, got one number")
    classes = 2 if given.size == flat.size and given.ndim <= np.ndim(labels) else given.shape[-1]
    if ((flat < 0) | (flat >= classes)).any():
        raise ValueError(f"[metrics] expected labels from 0 to {classes - 1}")
    if given.size == flat.size and given.ndim <= np.ndim(labels):
        return _area(flat == 1, given.reshape(-1))
    flat, rows = _rows(labels, given)
    return float(np.mean([_area(flat == c, rows[:, c]) for c in range(rows.shape[1])]))


def top_k_accuracy(labels: Any, scores: Any, k: int = 5) -> float:
    """The share of labels among the k classes of highest score, equal scores ranking by index; a row
    whose label has a NaN score is wrong. scores: with an axis of classes behind those of labels."""
    flat, rows = _rows(labels, scores)
    if flat.size == 0:
        raise ValueError("[metrics] top_k_accuracy needs at least one label")
    if not 1 <= k <= rows.shape[1]:
        raise ValueError(f"[metrics] k: expected 1 to {rows.shape[1]} classes, got {k}")
    is_class = (flat >= 0) & (flat < rows.shape[1])
    own = np.take_along_axis(rows, np.where(is_class, flat, 0)[:, None], 1)
    first = np.arange(rows.shape[1])[None] < flat[:, None]
    better = ((rows > own) | ((rows == own) & first)).sum(1)
    return float(np.mean(is_class & (better < k) & ~np.isnan(own[:, 0])))
