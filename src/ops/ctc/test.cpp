#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_cases.h"
#include "harness/op_run.h"

namespace thimble::test::ctc_test {
namespace {

// Sums of logarithms of up to some hundred steps.
constexpr double kTolerance = 1e-4;

OpCase labelled(const char* name, int64_t n, int64_t steps, int64_t classes, int64_t labels,
                const CtcOptions& options = {}, bool lengths = true) {
  const double last = static_cast<double>(classes - 1);
  return {.name = name,
          .inputs = {{.shape = {n, steps, classes}, .low = -2.0, .high = 2.0},
                     {.shape = {n, labels}, .dtype = DType::i32, .low = 1, .high = last},
                     {.shape = {n},
                      .dtype = DType::i32,
                      .low = static_cast<double>(std::min(steps, 2 * labels)),
                      .high = static_cast<double>(steps),
                      .absent = !lengths},
                     {.shape = {n},
                      .dtype = DType::i32,
                      .low = 0,
                      .high = static_cast<double>(labels),
                      .absent = !lengths}},
          .attrs = ir::Attrs::of(options),
          .expect = {options.reduction == Reduction::none ? Shape{n} : Shape{},
                     {n, steps, 2 * labels + 1}},
          .tolerance = kTolerance,
          .no_cotangent = {1}};
}

}  // namespace

THIMBLE_OP_CASES(ctc) {
  const TensorSpec x{.shape = {2, 5, 4}};
  const TensorSpec targets{.shape = {2, 2}, .dtype = DType::i32, .low = 1, .high = 3};
  const auto attrs = [](int64_t blank) { return ir::Attrs::of(CtcOptions{.blank = blank}); };
  return {
      .cases = {labelled("mean", 3, 12, 5, 4), labelled("sum", 3, 12, 5, 4, {Reduction::sum}),
                labelled("batch_mean", 3, 12, 5, 4, {Reduction::batch_mean}),
                labelled("each", 3, 12, 5, 4, {Reduction::none}),
                labelled("whole_sequences", 2, 9, 4, 3, {}, false),
                labelled("many_states", 2, 90, 30, 40), labelled("one_label", 2, 3, 3, 1),
                labelled("one_step", 2, 1, 3, 1, {}, false), labelled("no_labels", 2, 4, 3, 0),
                labelled("many", 40, 20, 7, 5),
                labelled("no_sequences", 0, 6, 4, 2, {Reduction::sum})},
      .rejects = {{"blank_that_is_no_class", {x, targets}, attrs(4), "a blank among the classes"},
                  {"other_batch",
                   {x, {.shape = {3, 2}, .dtype = DType::i32}},
                   attrs(0),
                   "one target a sequence"},
                  {"lengths",
                   {x, targets, {.shape = {3}, .dtype = DType::i32}},
                   attrs(0),
                   "expected input_lengths of shape"},
                  {"targets_of_f32", {x, {.shape = {2, 2}}}, attrs(0), "must be i32"},
                  {"a_matrix", {{.shape = {2, 5}}, targets}, attrs(0), "3 dimensions"}},
  };
}

namespace {

// One sequence of two steps and three classes.
float loss_of(const std::vector<int32_t>& target, int32_t steps, int32_t labels, bool zero,
              Kernel kernel) {
  const Tensor x = tensor({1, 2, 3}, {0.1F, 0.5F, -0.3F, 0.2F, -0.1F, 0.4F});
  const auto size = static_cast<int64_t>(target.size());
  return values_of<float>(run_op(
      "ctc", ir::Attrs::of(CtcOptions{.zero_infinity = zero}),
      {x, tensor<int32_t>(DType::i32, {1, size}, target), tensor<int32_t>(DType::i32, {1}, {steps}),
       tensor<int32_t>(DType::i32, {1}, {labels})},
      kernel)[0])[0];
}

TEST(ctc, tells_targets_that_cannot_be_written) {
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    EXPECT_TRUE(std::isinf(loss_of({1, 2, 1}, 2, 3, false, kernel)));
    EXPECT_TRUE(std::isinf(loss_of({1, 1}, 2, 2, false, kernel)));
    EXPECT_EQ(loss_of({1, 1}, 2, 2, true, kernel), 0.0F);
    EXPECT_TRUE(std::isinf(loss_of({1, 1}, 0, 1, false, kernel)));
    EXPECT_EQ(loss_of({1, 1}, 0, 0, false, kernel), 0.0F);
  }
}

TEST(ctc, is_nan_for_lengths_and_labels_out_of_range) {
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    EXPECT_TRUE(std::isnan(loss_of({1}, 3, 1, false, kernel)));
    EXPECT_TRUE(std::isnan(loss_of({1}, -1, 1, false, kernel)));
    EXPECT_TRUE(std::isnan(loss_of({1}, 2, 2, false, kernel)));
    EXPECT_TRUE(std::isnan(loss_of({3}, 2, 1, false, kernel)));
    EXPECT_TRUE(std::isnan(loss_of({-1}, 2, 1, false, kernel)));
  }
}

}  // namespace
}  // namespace thimble::test::ctc_test
