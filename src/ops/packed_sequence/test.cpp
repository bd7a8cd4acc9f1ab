#include <gtest/gtest.h>

#include "harness/op_cases.h"
#include "harness/op_run.h"

namespace thimble::test::packed_sequence_test {
namespace {

// last: the result has no steps.
OpCases sequences(bool last) {
  const auto of = [=](const char* name, const Shape& x, const Shape& y) {
    const auto steps = static_cast<double>(x[1]);
    return OpCase{.name = name,
                  .inputs = {{.shape = x},
                             {.shape = {x[0]}, .dtype = DType::i32, .low = -1, .high = steps + 1}},
                  .expect = {last ? y : x}};
  };
  const TensorSpec x{.shape = {3, 4, 2}};
  const TensorSpec lengths{.shape = {3}, .dtype = DType::i32, .low = 1, .high = 4};
  return {
      .cases = {of("features", {9, 6, 3}, {9, 3}), of("numbers", {5, 7}, {5}),
                of("images", {4, 3, 2, 2}, {4, 2, 2}), of("one_step", {3, 1, 5}, {3, 5}),
                of("long", {40, 90, 20}, {40, 20}), of("none", {0, 3, 2}, {0, 2}),
                of("no_features", {3, 2, 0}, {3, 0})},
      .rejects =
          {{"vector", {{.shape = {3}}, lengths}, {}, "sequences [N, T, ...]"},
           {"other_count", {x, {.shape = {4}, .dtype = DType::i32}}, {}, "a length for each"},
           {"lengths_of_f32", {x, {.shape = {3}}}, {}, "must be i32"}},
  };
}

std::vector<float> run(const char* op) {
  const Tensor x = tensor({3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const Tensor lengths = tensor<int32_t>(DType::i32, {3}, {2, 0, 5});
  return values_of<float>(run_op(op, {}, {x, lengths}, Kernel::fast)[0]);
}

}  // namespace

THIMBLE_OP_CASES(mask_sequence) { return sequences(false); }
THIMBLE_OP_CASES(reverse_sequence) { return sequences(false); }
THIMBLE_OP_CASES(last_of_sequence) { return sequences(true); }

TEST(packed_sequence, counts_as_many_steps_as_the_lengths_say) {
  EXPECT_EQ(run("mask_sequence"), (std::vector<float>{1, 2, 0, 0, 0, 0, 7, 8, 9}));
  EXPECT_EQ(run("reverse_sequence"), (std::vector<float>{2, 1, 3, 4, 5, 6, 9, 8, 7}));
  EXPECT_EQ(run("last_of_sequence"), (std::vector<float>{2, 0, 9}));
}

}  // namespace thimble::test::packed_sequence_test
