#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct ConfusionMatrixOptions {
  double threshold = 0.0;  // for scores without an axis of classes: a higher score means class 1
};
void describe(ConfusionMatrixOptions& options, ir::FieldVisitor& visitor);

// Fractions of samples by their label (row) and the class with the highest score (column):
// [classes, classes], f32, with a sum of 1 if every label is a class. scores: [N, ..., classes],
// f32, of equal ones the first counts; labels: [N, ...], i32. Scores with the shape of labels are
// those of class 1 out of two classes. A row whose label is no class, or whose scores contain NaN,
// is not counted. It has no gradient. Errors: Error if the shapes do not match.
Value confusion_matrix(Value scores, Value labels, const ConfusionMatrixOptions& options = {});

// How the scores of classes are combined: the score of class `positive` alone; of all decisions
// together; the mean over the classes that occur; that mean weighted by the frequency of each
// label.
enum class ClassAverage : uint8_t { binary, micro, macro, weighted };

struct ClassScoreOptions {
  ClassAverage average = ClassAverage::macro;
  int64_t positive = 1;    // the class whose score is computed by `binary`
  double threshold = 0.0;  // see confusion_matrix
};
void describe(ClassScoreOptions& options, ir::FieldVisitor& visitor);

// Scores of classifiers, one number from 0 to 1, as scikit-learn computes them: precision = tp /
// (tp + fp), recall = tp / (tp + fn), f1 = 2 tp / (2 tp + fp + fn), and 0 instead of 0 / 0. scores,
// labels: see confusion_matrix. As a metric of a graph they are computed over all samples of an
// epoch, not averaged over batches: Trainer sums the confusion matrix.
Value precision_score(Value scores, Value labels, const ClassScoreOptions& options = {});
Value recall_score(Value scores, Value labels, const ClassScoreOptions& options = {});
Value f1_score(Value scores, Value labels, const ClassScoreOptions& options = {});

}  // namespace thimble
