#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_cases.h"
#include "harness/op_run.h"

namespace thimble::test::softmax_cross_entropy_test {
namespace {

ir::Attrs by(Reduction reduction) { return ir::Attrs::of(SoftmaxCrossEntropyOptions{reduction}); }

OpCase indices(const char* name, const Shape& logits, const Shape& labels, Reduction reduction) {
  return {.name = name,
          .inputs = {{.shape = logits, .low = -3.0, .high = 3.0},
                     {.shape = labels,
                      .dtype = DType::i32,
                      .low = 0,
                      .high = static_cast<double>(logits[-1] - 1)}},
          .attrs = by(reduction),
          .expect = {reduction == Reduction::none ? labels : Shape{}}};
}

OpCase probabilities(const char* name, const Shape& shape, Reduction reduction) {
  return {.name = name,
          .inputs = {{.shape = shape, .low = -3.0, .high = 3.0}, {.shape = shape, .low = 0.0}},
          .attrs = by(reduction),
          .expect = {reduction == Reduction::none
                         ? Shape(std::vector<int64_t>(shape.dims().begin(), shape.dims().end() - 1))
                         : Shape{}}};
}

OpCase with(const char* name, OpCase test, const SoftmaxCrossEntropyOptions& options,
            bool weight = false) {
  test.name = name;
  test.attrs = ir::Attrs::of(options);
  if (weight) {
    test.inputs.push_back({.shape = {test.inputs[0].shape[-1]}, .low = 0.25});
    test.no_grad.push_back(2);
  }
  return test;
}

}  // namespace

THIMBLE_OP_CASES(softmax_cross_entropy) {
  constexpr auto kMean = Reduction::mean;
  const TensorSpec logits{.shape = {3, 4}};
  return {
      .cases = {indices("mean", {3, 10}, {3}, kMean),
                indices("sum", {3, 10}, {3}, Reduction::sum),
                indices("batch_mean", {3, 5, 10}, {3, 5}, Reduction::batch_mean),
                with("log_probabilities", indices("", {7, 19}, {7}, kMean),
                     {.label_smoothing = 0.1, .log_probabilities = true}, true),
                with("log_probabilities_of_shares", probabilities("", {7, 19}, kMean),
                     {.log_probabilities = true}),
                indices("rows", {3, 5, 10}, {3, 5}, Reduction::none),
                with("weighted_rows", indices("", {7, 19}, {7}, Reduction::none),
                     {.reduction = Reduction::none, .label_smoothing = 0.1}, true),
                indices("batch_of_1", {1, 37}, {1}, kMean),
                indices("one_row", {6}, {}, kMean),
                indices("one_class", {3, 1}, {3}, kMean),
                indices("no_rows", {0, 4}, {0}, Reduction::sum),
                indices("many", {1001, 17}, {1001}, kMean),
                indices("many_classes", {3, 10007}, {3}, kMean),
                probabilities("probabilities", {3, 10}, kMean),
                probabilities("probabilities_sum", {2, 3, 5}, Reduction::sum),
                probabilities("rows_of_probabilities", {2, 3, 5}, Reduction::none),
                probabilities("probabilities_batch_mean", {3, 5, 17}, Reduction::batch_mean),
                probabilities("many_probabilities", {701, 33}, kMean),
                with("smoothed", indices("", {7, 19}, {7}, kMean), {.label_smoothing = 0.2}),
                with("weighted", indices("", {7, 19}, {7}, kMean), {}, true),
                with("weighted_sum", indices("", {7, 19}, {7}, kMean),
                     {.reduction = Reduction::sum, .label_smoothing = 0.1}, true),
                with("ignored", indices("", {40, 3}, {40}, kMean), {.ignore_index = 1}, true),
                with("smoothed_probabilities", probabilities("", {7, 19}, kMean),
                     {.label_smoothing = 0.2}),
                with("weighted_probabilities", probabilities("", {7, 19}, kMean),
                     {.label_smoothing = 0.1}, true)},
      .rejects =
          {{"index_shape",
            {logits, {.shape = {4}, .dtype = DType::i32}},
            by(kMean),
            "one class index a row: shape [3]"},
           {"column_of_indices",
            {logits, {.shape = {3, 1}, .dtype = DType::i32}},
            by(kMean),
            "one class index a row"},
           {"ignored_probabilities",
            {logits, logits},
            ir::Attrs::of(SoftmaxCrossEntropyOptions{.ignore_index = 0}),
            "ignore_index is of class indices"},
           {"probability_shape", {logits, {.shape = {3}}}, by(kMean), "a class: shape [3, 4]"},
           {"bytes",
            {logits, {.shape = {3}, .dtype = DType::u8}},
            by(kMean),
            "labels must be floating or i32"},
           {"weight_shape",
            {logits, {.shape = {3}, .dtype = DType::i32}, {.shape = {3}}},
            by(kMean),
            "one weight a class: shape [4]"},
           {"smoothing_above_1",
            {logits, {.shape = {3}, .dtype = DType::i32}},
            ir::Attrs::of(SoftmaxCrossEntropyOptions{.label_smoothing = 1.5}),
            "of 0 to 1"},
           {"no_classes",
            {{.shape = {3, 0}}, {.shape = {3}, .dtype = DType::i32}},
            by(kMean),
            "at least one class"}},
  };
}

TEST(softmax_cross_entropy, is_nan_for_an_index_that_is_no_class) {
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    for (const int32_t label : {-1, 3, 2147483647, -2147483647}) {
      const Tensor x = tensor({2, 3}, {1, 2, 3, 4, 5, 6});
      const Tensor labels = tensor<int32_t>(DType::i32, {2}, {label, 1});
      const auto attrs = by(Reduction::mean);
      const auto loss = run_op("softmax_cross_entropy", attrs, {x, labels}, kernel);
      EXPECT_TRUE(std::isnan(values_of<float>(loss[0])[0]));
      const auto dx = values_of<float>(
          run_op("softmax_cross_entropy_grad", attrs, {tensor({}, {1.0F}), x, labels}, kernel)[0]);
      EXPECT_TRUE(std::isnan(dx[0]));
      EXPECT_FALSE(std::isnan(dx[3]));
    }
  }
}

TEST(softmax_cross_entropy, stays_finite_for_large_logits) {
  const Tensor x = tensor({2, 2}, {1e30F, -1e30F, 500.0F, -500.0F});
  const Tensor labels = tensor<int32_t>(DType::i32, {2}, {0, 1});
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    const auto loss = run_op("softmax_cross_entropy", by(Reduction::sum), {x, labels}, kernel);
    EXPECT_FLOAT_EQ(values_of<float>(loss[0])[0], 1000.0F);
  }
}

TEST(softmax_cross_entropy, ignores_the_rows_it_is_told_to) {
  const Tensor x = tensor({2, 2}, {1, 2, 3, 5});
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    const auto loss = [&](std::vector<int32_t> labels) {
      return values_of<float>(run_op("softmax_cross_entropy", by(Reduction::mean),
                                     {x, tensor<int32_t>(DType::i32, {2}, labels)}, kernel)[0])[0];
    };
    EXPECT_NEAR(loss({-100, 1}), std::log1p(std::exp(-2.0)), 1e-6);
    EXPECT_TRUE(std::isnan(loss({-100, -100})));
  }
}

}  // namespace thimble::test::softmax_cross_entropy_test
