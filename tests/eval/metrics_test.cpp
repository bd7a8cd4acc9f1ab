// Scores of classifiers, against scikit-learn's formulas worked out by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/metrics.h>

#include <cmath>
#include <vector>

namespace thimble::metrics::metrics_test {
namespace {

const std::vector<int32_t> kLabels = {0, 0, 0, 1, 1, 2, 2, 2};
const std::vector<int32_t> kPredictions = {0, 0, 1, 1, 0, 1, 0, 1};

ConfusionMatrix matrix() {
  ConfusionMatrix made(3);
  made.add(kLabels, kPredictions);
  return made;
}

template <class F>
void expect_error(const F& call, const char* message) {
  EXPECT_THAT(call, testing::ThrowsMessage<Error>(testing::HasSubstr(message)));
}

TEST(confusion_matrix, counts_labels_by_predictions) {
  const ConfusionMatrix m = matrix();
  EXPECT_EQ(m.counts(), Array(std::vector<int64_t>{2, 1, 0, 1, 1, 0, 1, 2, 0}, {3, 3}));
  EXPECT_EQ(m.count(2, 1), 2);
  EXPECT_EQ(m.total(), 8);
  EXPECT_DOUBLE_EQ(accuracy(m), 3.0 / 8.0);
}

TEST(confusion_matrix, takes_batch_after_batch) {
  ConfusionMatrix parts(3);
  const std::span<const int32_t> labels(kLabels);
  const std::span<const int32_t> predictions(kPredictions);
  parts.add(Array::view(labels.first(3), {3}), Array::view(predictions.first(3), {3}));
  parts.add(Array::view(labels.subspan(3), {5}), Array::view(predictions.subspan(3), {5}));
  EXPECT_EQ(parts.counts(), matrix().counts());
}

TEST(confusion_matrix, takes_integers_of_any_type) {
  ConfusionMatrix m(3);
  m.add(Array(kLabels).cast(DType::u8), Array(kPredictions).cast(DType::i64));
  EXPECT_EQ(m.counts(), matrix().counts());
}

TEST(confusion_matrix, leaves_out_what_has_no_label_or_no_score) {
  ConfusionMatrix m(2);
  const Array scores(std::vector<float>{2, 2, 0, 1, 5, 1, NAN, 1}, {4, 2});
  m.add_scores(std::vector<int32_t>{0, 1, -1, 1}, scores);
  EXPECT_EQ(m.counts(), Array(std::vector<int64_t>{1, 0, 0, 1}, {2, 2}));
  m.add_scores(std::vector<int32_t>{0, 1, -1, 1}, scores.cast(DType::bf16));
  EXPECT_EQ(m.total(), 4);
}

// Of the classes tp = 2, 1, 0; labels 3, 2, 3; predictions 4, 4, 0.
TEST(scores, are_those_of_scikit_learn) {
  const ConfusionMatrix m = matrix();
  EXPECT_DOUBLE_EQ(precision(m), (2.0 / 4 + 1.0 / 4 + 0.0) / 3);
  EXPECT_DOUBLE_EQ(recall(m), (2.0 / 3 + 1.0 / 2 + 0.0) / 3);
  EXPECT_DOUBLE_EQ(f1(m), (4.0 / 7 + 2.0 / 6 + 0.0) / 3);
  EXPECT_DOUBLE_EQ(f1(m, ClassAverage::micro), 3.0 / 8);
  EXPECT_DOUBLE_EQ(f1(m, ClassAverage::weighted), (3 * 4.0 / 7 + 2 * 2.0 / 6) / 8);
  EXPECT_DOUBLE_EQ(precision(m, ClassAverage::binary), 0.25);
  EXPECT_DOUBLE_EQ(recall(m, ClassAverage::binary, 0), 2.0 / 3);
  EXPECT_EQ(f1(m, ClassAverage::binary, 2), 0.0);
}

TEST(scores, mean_over_the_classes_that_occur) {
  ConfusionMatrix m(5);
  m.add(kLabels, kPredictions);
  EXPECT_DOUBLE_EQ(f1(m), f1(matrix()));
  EXPECT_EQ(f1(ConfusionMatrix(3)), 0.0);
}

TEST(roc_auc, counts_pairs_in_order_and_half_of_equal_ones) {
  // Pairs (of class 1, of class 0) whose first score is higher: 0.4 beats 0.1, not 0.5; 0.8 both.
  EXPECT_DOUBLE_EQ(
      roc_auc(std::vector<int32_t>{0, 0, 1, 1}, std::vector<float>{0.1F, 0.5F, 0.4F, 0.8F}),
      3.0 / 4);
  EXPECT_DOUBLE_EQ(roc_auc(std::vector<int32_t>{0, 1, 1}, std::vector<float>{1, 1, 2}), 1.5 / 2);
  EXPECT_DOUBLE_EQ(roc_auc(std::vector<int32_t>{1, 0}, std::vector<float>{0, 1}), 0.0);
}

TEST(roc_auc, of_many_equals_the_count_of_pairs) {
  std::vector<int32_t> labels(301);
  std::vector<float> scores(301);
  for (size_t i = 0; i < labels.size(); ++i) {
    labels[i] = i * 7 % 5 < 2 ? 1 : 0;
    scores[i] = static_cast<float>(i * 37 % 53 + 10 * static_cast<size_t>(labels[i]));
  }
  double pairs = 0.0;
  double right = 0.0;
  for (size_t i = 0; i < labels.size(); ++i) {
    for (size_t j = 0; j < labels.size(); ++j) {
      if (labels[i] != 1 || labels[j] != 0) continue;
      pairs += 1.0;
      right += scores[i] > scores[j] ? 1.0 : scores[i] == scores[j] ? 0.5 : 0.0;
    }
  }
  EXPECT_NEAR(roc_auc(labels, scores), right / pairs, 1e-12);
}

TEST(roc_auc, of_several_classes_is_the_mean_of_each_against_the_rest) {
  const std::vector<int32_t> labels = {0, 1, 2, 1};
  const Array scores(std::vector<float>{3, 1, 0, 0, 2, 1, 1, 1, 2, 2, 0, 1}, {4, 3});
  // Class 0: 3 beats 0, 1, 2. Class 1: {2, 0} against {1, 1}: 2 beats both, 0 none. Class 2: 2
  // beats 0, 1, 1.
  EXPECT_DOUBLE_EQ(roc_auc(labels, scores), (1.0 + 0.5 + 1.0) / 3);
}

TEST(top_k_accuracy, ranks_equal_scores_by_index) {
  const std::vector<int32_t> labels = {1, 2, 0};
  const Array scores(std::vector<float>{1, 1, 0, 3, 2, 1, NAN, 1, 2}, {3, 3});
  EXPECT_DOUBLE_EQ(top_k_accuracy(labels, scores, 1), 0.0);
  EXPECT_DOUBLE_EQ(top_k_accuracy(labels, scores, 2), 1.0 / 3);
  EXPECT_DOUBLE_EQ(top_k_accuracy(labels, scores, 3), 2.0 / 3);
}

TEST(metrics, refuse_what_does_not_fit) {
  ConfusionMatrix m(2);
  const std::vector<int32_t> two = {0, 1};
  expect_error([] { ConfusionMatrix none(0); }, "at least 1 class");
  expect_error([&] { m.add(two, std::vector<int32_t>{0}); }, "a prediction for each of 2 labels");
  expect_error([&] { m.add(two, std::vector<int32_t>{0, 2}); }, "predictions from 0 to 1, got 2");
  expect_error(
      [&] {
        m.add_scores(two, std::vector<float>{1, 2});
      },
      "expected scores [2, classes], with the classes as the last axis, for labels [2], got [2]");
  expect_error([&] { m.add_scores(two, Array(DType::f32, {2, 3})); }, "scores of 2 classes, got 3");
  expect_error([&] { m.add(std::vector<float>{0, 1}, two); }, "f32");
  expect_error([&] { (void)m.count(0, 2); }, "no class 2");
  expect_error([&] { (void)f1(m, ClassAverage::binary, 2); }, "positive to be one of 2");
  expect_error(
      [&] {
        (void)roc_auc(std::vector<int32_t>{1, 1}, std::vector<float>{1, 2});
      },
      "samples of both classes");
  expect_error(
      [&] {
        (void)roc_auc(std::vector<int32_t>{0, 2}, std::vector<float>{1, 2});
      },
      "labels from 0 to 1, got 2");
  expect_error([&] { (void)roc_auc(two, std::vector<float>{1, NAN}); }, "score 1 is NaN");
  expect_error(
      [&] {
        (void)top_k_accuracy(two, Array(std::vector<float>{1, 2, 3, 4}, {2, 2}), 3);
      },
      "k from 1 to 2");
}

}  // namespace
}  // namespace thimble::metrics::metrics_test
