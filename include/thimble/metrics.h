// Scores of classifiers from arrays of predictions. As metrics of a graph, summed up over an epoch:
// confusion_matrix, f1_score and their like in <thimble/ops/confusion_matrix.h>.
//
// Labels and predictions are arrays of any integer type, scores of any type; vectors may be given
// in their place. Functions of scores throw Error where their shape is not that of the labels with
// an axis of classes behind it.
#pragma once

#include <thimble/array.h>
#include <thimble/ops/confusion_matrix.h>

#include <cstdint>
#include <vector>

namespace thimble::metrics {

// How often each label (row) was taken for each class (column). Thread safety: none.
class ConfusionMatrix {
 public:
  // Throws Error unless there is at least one class.
  explicit ConfusionMatrix(int64_t classes);

  // Counts predictions: one class for each label. May be called batch after batch. A label that is
  // no class counts nowhere. Throws Error where the lengths differ or a prediction is no class.
  void add(const Array& labels, const Array& predictions);
  // The same for scores [labels, classes], of which the highest is the prediction, of equal ones
  // the first. A row with NaN counts nowhere.
  void add_scores(const Array& labels, const Array& scores);

  [[nodiscard]] int64_t classes() const { return classes_; }
  // Throws Error where one is no class.
  [[nodiscard]] int64_t count(int64_t label, int64_t predicted) const;
  [[nodiscard]] int64_t total() const;
  // i64 [classes, classes].
  [[nodiscard]] Array counts() const { return {counts_, {classes_, classes_}}; }

 private:
  int64_t classes_;
  std::vector<int64_t> counts_;
};

// Shares from 0 to 1, as precision_score, recall_score and f1_score compute them. positive: the
// class that ClassAverage::binary is about; Error where it is none. Accuracy: the share on the
// diagonal, 0 of an empty matrix.
[[nodiscard]] double precision(const ConfusionMatrix& matrix,
                               ClassAverage average = ClassAverage::macro, int64_t positive = 1);
[[nodiscard]] double recall(const ConfusionMatrix& matrix,
                            ClassAverage average = ClassAverage::macro, int64_t positive = 1);
[[nodiscard]] double f1(const ConfusionMatrix& matrix, ClassAverage average = ClassAverage::macro,
                        int64_t positive = 1);
[[nodiscard]] double accuracy(const ConfusionMatrix& matrix);

// The area under the receiver operating characteristic: how probable it is that a sample of class 1
// has a higher score than one of class 0, equal scores counting half. Exact, by sorting; any
// rising function of the scores gives the same. Source: Fawcett, "An introduction to ROC
// analysis", 2006. scores: of class 1, in the shape of the labels, which are 0 or 1; or [labels,
// classes], and the result is the mean over the classes of each one's area against all others.
// Throws Error where the shapes do not fit, a label is no class, a class is missing or a score is
// NaN.
[[nodiscard]] double roc_auc(const Array& labels, const Array& scores);

// The share of labels among the k classes of highest score, equal scores ranking by index; a row
// whose label has a NaN score is wrong. scores: [labels, classes]. Throws Error where k is not in 1
// to classes, or there are no labels.
[[nodiscard]] double top_k_accuracy(const Array& labels, const Array& scores, int64_t k);

}  // namespace thimble::metrics
