#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_cases.h"
#include "harness/op_run.h"

namespace thimble::test::accuracy_test {
namespace {

ir::Attrs of_k(int64_t k) { return ir::Attrs::of(AccuracyOptions{k}); }

OpCase indices(const char* name, const Shape& logits, const Shape& labels, int64_t k) {
  return {.name = name,
          .inputs = {{.shape = logits, .low = -3.0, .high = 3.0},
                     {.shape = labels,
                      .dtype = DType::i32,
                      .low = 0,
                      .high = static_cast<double>(logits[-1] - 1)}},
          .attrs = of_k(k),
          .expect = {{}}};
}

float share(const std::vector<float>& x, const std::vector<int32_t>& labels, int64_t k = 1) {
  const auto rows = static_cast<int64_t>(labels.size());
  const auto classes = static_cast<int64_t>(x.size()) / rows;
  return values_of<float>(
      run_op("accuracy", of_k(k),
             {tensor({rows, classes}, x), tensor<int32_t>(DType::i32, {rows}, labels)},
             Kernel::fast)[0])[0];
}

}  // namespace

THIMBLE_OP_CASES(accuracy) {
  const TensorSpec logits{.shape = {3, 4}};
  const TensorSpec labels{.shape = {3}, .dtype = DType::i32};
  return {
      .cases = {indices("images", {30, 10}, {30}, 1),
                indices("five_guesses", {30, 10}, {30}, 5),
                indices("all_guesses", {3, 4}, {3}, 4),
                indices("pixels", {3, 5, 4}, {3, 5}, 2),
                indices("batch_of_1", {1, 4}, {1}, 1),
                indices("no_rows", {0, 4}, {0}, 1),
                {.name = "probabilities",
                 .inputs = {{.shape = {30, 4}}, {.shape = {30, 4}}},
                 .attrs = of_k(2),
                 .expect = {{}}}},
      .rejects = {{"k_0", {logits, labels}, of_k(0), "between 1 and the number of classes"},
                  {"k_5", {logits, labels}, of_k(5), "between 1 and the number of classes"},
                  {"label_shape",
                   {logits, {.shape = {4}, .dtype = DType::i32}},
                   of_k(1),
                   "one class index a row"}},
  };
}

TEST(accuracy, counts_rows_whose_label_scores_highest) {
  EXPECT_FLOAT_EQ(share({1, 2, 3, 3, 2, 1, 1, 3, 2, 0, 0, 1}, {2, 0, 2, 2}), 0.75F);
}

TEST(accuracy, counts_the_first_of_equal_scores) {
  EXPECT_FLOAT_EQ(share({1, 1, 1, 1}, {0, 1}), 0.5F);
  EXPECT_FLOAT_EQ(share({1, 1, 0, 1, 1, 0}, {1, 2}, 2), 0.5F);
}

TEST(accuracy, of_top_k_is_that_of_k_guesses) {
  Graph g;
  const Value logits = g.input("logits", {4});
  const Value best = top_k_accuracy(logits, g.label("label"), 3);
  EXPECT_EQ(best.shape(), Shape{});
  EXPECT_EQ(g.ir().nodes.back().attrs.as<AccuracyOptions>().k, 3);
}

TEST(accuracy, takes_nan_and_unknown_classes_for_wrong) {
  EXPECT_FLOAT_EQ(share({NAN, NAN, 1, 2, 1, 2}, {0, -1, 2}), 0.0F);
}

}  // namespace thimble::test::accuracy_test
