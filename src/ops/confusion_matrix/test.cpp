#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "ir/graph.h"

namespace thimble::test::confusion_matrix_test {
namespace {

// Labels and predictions of eight samples of three classes; the third class is never predicted.
const std::vector<float> kLabels = {0, 0, 0, 1, 1, 2, 2, 2};
const std::vector<float> kPredictions = {0, 0, 1, 1, 0, 1, 0, 1};

// A score of a graph that holds these samples.
float score(Value (*function)(Value, Value, const ClassScoreOptions&), ClassAverage average,
            int64_t positive = 1) {
  Graph g;
  std::vector<float> scores(24, 0.0F);
  for (size_t i = 0; i < 8; ++i) scores[3 * i + static_cast<size_t>(kPredictions[i])] = 1.0F;
  const Value labels = cast(g.constant("labels", {8}, kLabels), DType::i32);
  return evaluate(function(g.constant("scores", {8, 3}, scores), labels,
                           {.average = average, .positive = positive}))[0];
}

}  // namespace

THIMBLE_OP_CASES(confusion_matrix) {
  const auto of = [](const char* name, const Shape& scores, const Shape& labels, double last,
                     const Shape& y) {
    return OpCase{.name = name,
                  .inputs = {{.shape = scores},
                             {.shape = labels, .dtype = DType::i32, .low = -1, .high = last}},
                  .attrs = ir::Attrs::of(ConfusionMatrixOptions{.threshold = 0.25}),
                  .expect = {y}};
  };
  const TensorSpec labels{.shape = {4}, .dtype = DType::i32, .low = 0, .high = 2};
  const ir::Attrs attrs = ir::Attrs::of(ConfusionMatrixOptions{});
  return {
      .cases = {of("classes", {40, 5}, {40}, 5, {5, 5}),
                of("pixels", {3, 4, 5, 3}, {3, 4, 5}, 2, {3, 3}),
                of("two_classes", {60}, {60}, 2, {2, 2}), of("one_class", {4, 1}, {4}, 0, {1, 1})},
      .rejects = {{"shapes", {{.shape = {5, 3}}, labels}, attrs, "of the shape of labels"},
                  {"labels_of_f32", {{.shape = {4, 3}}, {.shape = {4}}}, attrs, "must be i32"},
                  {"no_classes", {{.shape = {4, 0}}, labels}, attrs, "1 to 1024 classes"}},
  };
}

THIMBLE_OP_CASES(class_score) {
  return {.cases = {{.name = "macro_f1",
                     .inputs = {{.shape = {4, 4}, .low = 0.0, .high = 1.0}},
                     .expect = {{}}},
                    {.name = "one_class",
                     .inputs = {{.shape = {1, 1}, .low = 0.0, .high = 1.0}},
                     .expect = {{}}}},
          .rejects = {{"no_square", {{.shape = {2, 3}}}, {}, "a matrix [classes, classes]"}}};
}

TEST(confusion_matrix, counts_shares_of_samples) {
  const Tensor scores = tensor({4, 2}, {2, 1, 1, 2, 0, 0, NAN, 1});
  const Tensor labels = tensor<int32_t>(DType::i32, {4}, {0, 0, 1, 1});
  EXPECT_EQ(values_of<float>(run_op("confusion_matrix", ir::Attrs::of(ConfusionMatrixOptions{}),
                                    {scores, labels}, Kernel::fast)[0]),
            (std::vector<float>{0.25F, 0.25F, 0.25F, 0.0F}));
}

// scikit-learn's formulas, by hand: of the classes tp = 2, 1, 0; labels 3, 2, 3; predictions 4, 4,
// 0.
TEST(class_scores, are_those_of_scikit_learn) {
  constexpr float kRounding = 1e-6F;
  EXPECT_NEAR(score(precision_score, ClassAverage::macro), (0.5F + 0.25F + 0.0F) / 3, kRounding);
  EXPECT_NEAR(score(recall_score, ClassAverage::macro), (2.0F / 3 + 0.5F + 0.0F) / 3, kRounding);
  EXPECT_NEAR(score(f1_score, ClassAverage::macro), (4.0F / 7 + 2.0F / 6 + 0.0F) / 3, kRounding);
  EXPECT_NEAR(score(f1_score, ClassAverage::micro), 3.0F / 8, kRounding);
  EXPECT_NEAR(score(precision_score, ClassAverage::micro), 3.0F / 8, kRounding);
  EXPECT_NEAR(score(f1_score, ClassAverage::weighted), (3 * 4.0F / 7 + 2 * 2.0F / 6) / 8,
              kRounding);
  EXPECT_NEAR(score(precision_score, ClassAverage::binary), 0.25F, kRounding);
  EXPECT_NEAR(score(recall_score, ClassAverage::binary, 0), 2.0F / 3, kRounding);
  EXPECT_EQ(score(f1_score, ClassAverage::binary, 2), 0.0F);
}

}  // namespace thimble::test::confusion_matrix_test
