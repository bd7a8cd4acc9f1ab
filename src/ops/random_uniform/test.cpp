#include <cmath>

#include <gtest/gtest.h>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "ops/families/random/random_cases.h"
#include "ops/random_uniform/attrs.h"
#include "simd/philox.h"

namespace thimble::test::random_uniform_test {
namespace {

OpCase draw(const char* name, const RandomUniformAttrs& attrs) {
  return draw_case(name, attrs, 1e-7);
}

}  // namespace

THIMBLE_OP_CASES(random_uniform) {
  const auto attrs = [](double low, double high, int64_t stream = 0) {
    return ir::Attrs::of(RandomUniformAttrs{{2}, low, high, stream});
  };
  return {
      .cases = {draw("unit", {.shape = {3, 7}}),
                draw("bounds", {.shape = {257}, .low = -3.0, .high = 5.5, .stream = 9}),
                draw("scalar", {.shape = {}}), draw("empty", {.shape = {0, 3}}),
                draw("one_value", {.shape = {5}, .low = 2.5, .high = 2.5}),
                draw("many", {.shape = {3, 7001}, .stream = 0x7FFFFFFF})},
      .rejects = {draw_reject("low_above_high", attrs(1.0, 0.0), "low <= high"),
                  draw_reject("infinite", attrs(0.0, INFINITY), "finite bounds"),
                  draw_reject("stream", attrs(0.0, 1.0, -1), "is negative"),
                  short_state_reject(attrs(0.0, 1.0))},
  };
}

// Source: the known answers that come with Random123, kat_vectors.
TEST(philox, gives_the_published_words) {
  const uint32_t zeros[4] = {0, 0, 0, 0};
  const uint32_t ones[4] = {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF};
  const uint32_t of_zeros[4] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  const uint32_t of_ones[4] = {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
  const philox_block a = philox(zeros, zeros);
  const philox_block b = philox(ones, ones);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(a.v[i], of_zeros[i]);
    EXPECT_EQ(b.v[i], of_ones[i]);
  }
}

TEST(random_uniform, gives_the_same_bits_from_both_kernels) {
  const Tensor rng = tensor<uint32_t>(DType::u32, {6}, {1, 2, 3, 4, 0, 0});
  const auto attrs = ir::Attrs::of(RandomUniformAttrs{{1027}, -0.3, 0.9, 5});
  EXPECT_EQ(run_op("random_uniform", attrs, {rng}, Kernel::fast),
            run_op("random_uniform", attrs, {rng}, Kernel::reference));
}

TEST(random_uniform, stays_within_its_bounds_and_fills_them) {
  Graph g;
  const std::vector<uint32_t> rng{7, 0, 1, 0};
  const auto y = evaluate(random_uniform(g, {100000}, {.low = -2.0, .high = 3.0}), rng);
  double sum = 0.0;
  double least = 0.0;
  double most = 0.0;
  for (const double v : y) {
    sum += v;
    least = std::min(least, v);
    most = std::max(most, v);
  }
  EXPECT_GE(least, -2.0);
  EXPECT_LT(most, 3.0);
  EXPECT_LT(least, -1.999);
  EXPECT_GT(most, 2.999);
  // Five standard deviations of the mean of so many numbers.
  EXPECT_NEAR(sum / 1e5, 0.5, 5.0 * 5.0 / std::sqrt(12.0 * 1e5));
}

TEST(random_uniform, differs_between_draws_steps_and_seeds) {
  Graph g;
  const Value a = random_uniform(g, {8});
  const Value b = random_uniform(g, {8});
  const std::vector<uint32_t> rng{7, 0, 1, 0};
  const std::vector<uint32_t> next_step{7, 0, 2, 0};
  const std::vector<uint32_t> other_seed{8, 0, 1, 0};
  EXPECT_EQ(evaluate(a, rng), evaluate(a, rng));
  EXPECT_NE(evaluate(a, rng), evaluate(b, rng));
  EXPECT_NE(evaluate(a, rng), evaluate(a, next_step));
  EXPECT_NE(evaluate(a, rng), evaluate(a, other_seed));
}

}  // namespace thimble::test::random_uniform_test
