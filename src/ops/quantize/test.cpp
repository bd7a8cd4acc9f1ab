#include <gtest/gtest.h>

#include <cmath>

#include "ops/families/quantized/quantized_cases.h"

namespace thimble::test::quantize_test {
namespace {

ir::Attrs to(double scale, int64_t zero_point, Requantization how = {}) {
  return ir::Attrs::of(QuantizeOptions{scale, zero_point, how});
}

std::vector<int8_t> quantized(const std::vector<float>& x, const ir::Attrs& attrs) {
  const Tensor given = tensor({static_cast<int64_t>(x.size())}, x);
  return values_of<int8_t>(run_op("quantize", attrs, {given}, Kernel::fast)[0]);
}

}  // namespace

THIMBLE_OP_CASES(quantize) {
  const TensorSpec numbers{.shape = {3, 37}, .low = -10.0, .high = 10.0};
  return {
      .cases = {{"numbers", {numbers}, to(0.05, -3), {{3, 37}}},
                {"fixed_point", {numbers}, to(0.03, 7, Requantization::fixed_point), {{3, 37}}},
                {"scalar", {{.shape = {}}}, to(0.5, 0), {{}}},
                {"empty", {{.shape = {0, 3}}}, to(0.5, 0), {{0, 3}}}},
      .rejects = {{"a_scale_of_zero", {numbers}, to(0.0, 0), "that is above 0"},
                  {"a_scale_that_f32_does_not_hold", {numbers}, to(1e-60, 0), "that is above 0"},
                  {"a_scale_that_is_no_number", {numbers}, to(NAN, 0), "that is above 0"},
                  {"a_zero_point_beyond_int8", {numbers}, to(1.0, 128), "from -128 to 127"},
                  {"whole_numbers", {plain_int8({3})}, to(1.0, 0), "must be floating"}},
  };
}

TEST(quantize, rounds_halves_to_even_or_away_from_zero) {
  const std::vector<float> x{0.5F, 1.5F, 2.5F, -0.5F, -1.5F, -2.5F, 0.49999997F, 7.0F};
  EXPECT_EQ(quantized(x, to(1.0, 10)), (std::vector<int8_t>{10, 12, 12, 10, 8, 8, 10, 17}));
  EXPECT_EQ(quantized(x, to(1.0, 10, Requantization::fixed_point)),
            (std::vector<int8_t>{11, 12, 13, 9, 8, 7, 10, 17}));
}

TEST(quantize, keeps_to_what_int8_can_hold) {
  const std::vector<float> x{INFINITY, -INFINITY, NAN, 1e30F, -1e30F, 127.4F, -128.6F};
  for (const Requantization how : kRequantizations) {
    EXPECT_EQ(quantized(x, to(1.0, 3, how)),
              (std::vector<int8_t>{127, -128, 3, 127, -128, 127, -126}));
  }
}

TEST(quantize, gives_the_type_its_quantization) {
  Graph g;
  const Value y = quantize(g.input("x", {4}), {.scale = 0.25, .zero_point = -5});
  EXPECT_EQ(y.dtype(), DType::i8);
  ASSERT_NE(y.quantization(), nullptr);
  EXPECT_EQ(*y.quantization(), (Quantization{{0.25F}, {-5}}));
}

}  // namespace thimble::test::quantize_test
