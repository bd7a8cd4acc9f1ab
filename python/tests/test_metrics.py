"""Scores of classifiers: on arrays, against scikit-learn's formulas worked out by hand; and as metrics of
a graph, over an epoch whose batches have different sizes."""

import numpy as np
import pytest

import thimble as tb
from thimble import metrics

LABELS = np.array([0, 0, 0, 1, 1, 2, 2, 2])
PREDICTIONS = np.array([0, 0, 1, 1, 0, 1, 0, 1])


def test_a_confusion_matrix_counts_labels_by_predictions():
    matrix = metrics.confusion_matrix(LABELS, PREDICTIONS)
    assert matrix.tolist() == [[2, 1, 0], [1, 1, 0], [1, 2, 0]]
    assert metrics.accuracy(matrix) == 3 / 8
    scores = np.array([[2, 2], [0, 1], [5, 1], [np.nan, 1]])
    assert metrics.confusion_matrix([0, 1, -1, 1], scores).tolist() == [[1, 0], [0, 1]]


def test_scores_are_those_of_scikit_learn():
    matrix = metrics.confusion_matrix(LABELS, PREDICTIONS)
    assert metrics.precision(matrix) == pytest.approx((2 / 4 + 1 / 4) / 3)
    assert metrics.recall(matrix) == pytest.approx((2 / 3 + 1 / 2) / 3)
    assert metrics.f1(matrix) == pytest.approx((4 / 7 + 2 / 6) / 3)
    assert metrics.f1(matrix, "micro") == 3 / 8
    assert metrics.f1(matrix, "weighted") == pytest.approx((3 * 4 / 7 + 2 * 2 / 6) / 8)
    assert metrics.precision(matrix, "binary") == 0.25
    assert metrics.f1(matrix, "binary", positive=2) == 0.0
    padded = metrics.confusion_matrix(LABELS, PREDICTIONS, classes=5)
    assert metrics.f1(padded) == metrics.f1(matrix)


def test_roc_auc_counts_pairs():
    assert metrics.roc_auc([0, 0, 1, 1], [0.1, 0.5, 0.4, 0.8]) == 3 / 4
    assert metrics.roc_auc([0, 1, 1], [1, 1, 2]) == 1.5 / 2
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 2, 200)
    scores = rng.integers(0, 30, 200) + 5 * labels
    pairs = scores[labels == 1][:, None] - scores[labels == 0][None]
    assert metrics.roc_auc(labels, scores) == pytest.approx(((pairs > 0) + (pairs == 0) / 2).mean())
    rows = np.array([[3, 1, 0], [0, 2, 1], [1, 1, 2], [2, 0, 1]])
    assert metrics.roc_auc([0, 1, 2, 1], rows) == pytest.approx((1 + 0.5 + 1) / 3)


def test_top_k_accuracy_ranks_equal_scores_by_index():
    scores = [[1, 1, 0], [3, 2, 1], [np.nan, 1, 2]]
    assert [metrics.top_k_accuracy([1, 2, 0], scores, k) for k in (1, 2, 3)] == [0, 1 / 3, 2 / 3]


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: metrics.confusion_matrix([0, 1], [0]), "a prediction for each of 2 labels"),
        (lambda: metrics.confusion_matrix([0, 1], [0, 2], classes=2), "predictions from 0 to 1"),
        (lambda: metrics.f1([[1, 2]]), "expected a confusion matrix"),
        (lambda: metrics.f1([[1]], "all"), "expected one of binary, micro"),
        (lambda: metrics.f1([[1, 0], [0, 1]], "binary", 2), "one of 2 classes, got 2"),
        (lambda: metrics.roc_auc([1, 1], [1, 2]), "samples of both classes"),
        (lambda: metrics.roc_auc([0, 2], [1, 2]), "labels from 0 to 1"),
        (lambda: metrics.roc_auc([0, 1], [1, np.nan]), "NaN"),
        (lambda: metrics.top_k_accuracy([0], [[1, 2]], 3), "1 to 2 classes, got 3"),
    ],
)
def test_metrics_refuse_what_does_not_fit(call, message):
    with pytest.raises(ValueError, match=message.replace("[", r"\[")):
        call()


def test_metrics_of_a_graph_hold_for_the_whole_epoch(rng):
    scores = rng.normal(size=(23, 3)).astype(np.float32)
    labels = np.where(np.arange(23) % 9 == 4, 1, np.arange(23) % 2 * 2).astype(np.int32)
    g = tb.Graph()
    x, label = g.input("x", (3,)), g.label("label")
    logits = x * g.parameter("scale", (3,), tb.init.constant(1.0))
    g.minimize(tb.softmax_cross_entropy(logits, label))
    g.metric("f1", tb.f1_score(logits, label))
    g.metric("recall", tb.recall_score(logits, label, average="binary"))
    found = tb.Trainer(g, batch=4).evaluate({"x": scores, "label": labels}).metrics
    matrix = metrics.confusion_matrix(labels, scores)
    assert found["f1"] == pytest.approx(metrics.f1(matrix))
    assert found["recall"] == pytest.approx(metrics.recall(matrix, "binary"))


def test_labels_too_large_to_count_and_missing_scores_are_named():
    for label in (10**6, 10**10):
        with pytest.raises(ValueError, match="only if classes says how many"):
            tb.metrics.confusion_matrix([0, label], [0, 1])
    assert tb.metrics.confusion_matrix([0, 10**10], [0, 1], classes=2).sum() == 1
    with pytest.raises(ValueError, match="a score for each of 2 labels"):
        tb.metrics.roc_auc([0, 1], 0.5)
