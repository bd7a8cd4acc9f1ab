#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble::ir {
class FieldVisitor;
}

namespace thimble {

struct ConfusionMatrixOptions {
  double threshold = 0.0;  // without an axis of classes: a score above it means class 1
};
void describe(ConfusionMatrixOptions& options, ir::FieldVisitor& visitor);

// Shares of samples by their label (row) and by the class of highest score (column): [classes,
// classes], f32, whose sum is 1 where every label is a class. scores: [N, ..., classes], f32, of
// equal ones the first counts; labels: [N, ...], i32. Scores of the shape of labels are those of
// class 1 of two. A row whose label is no class, or whose scores hold NaN, counts nowhere. It has
// no gradient. Errors: Error where the shapes do not fit.
Value confusion_matrix(Value scores, Value labels, const ConfusionMatrixOptions& options = {});

// How scores of classes become one: of class `positive` alone; of all decisions together; their
// mean over the classes that occur; that mean weighted by how often a class is the label.
enum class ClassAverage : uint8_t { binary, micro, macro, weighted };

struct ClassScoreOptions {
  ClassAverage average = ClassAverage::macro;
  int64_t positive = 1;    // the class that `binary` is about
  double threshold = 0.0;  // as of confusion_matrix
};
void describe(ClassScoreOptions& options, ir::FieldVisitor& visitor);

// Scores of classifiers, one number from 0 to 1, as scikit-learn computes them: precision = tp /
// (tp + fp), recall = tp / (tp + fn), f1 = 2 tp / (2 tp + fp + fn), each 0 where it is 0 / 0.
// scores, labels: as of confusion_matrix. As a metric of a graph they are those of all samples of
// an epoch together, not means over batches: Trainer sums up the confusion matrix.
Value precision_score(Value scores, Value labels, const ClassScoreOptions& options = {});
Value recall_score(Value scores, Value labels, const ClassScoreOptions& options = {});
Value f1_score(Value scores, Value labels, const ClassScoreOptions& options = {});

}  // namespace thimble
