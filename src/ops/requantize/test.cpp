#include <gtest/gtest.h>

#include "ops/families/quantized/quantized_cases.h"

namespace thimble::test::requantize_test {
namespace {

ir::Attrs to(double scale, int64_t zero_point, Requantization how = {}) {
  return ir::Attrs::of(RequantizeOptions{scale, zero_point, how});
}

}  // namespace

THIMBLE_OP_CASES(requantize) {
  const TensorSpec x = int8_spec({3, 37}, {.scales = {0.1F}, .zero_points = {-7}});
  return {
      .cases = {{"to_a_larger_scale", {x}, to(0.13, 2), {{3, 37}}},
                {"fixed_point", {x}, to(0.07, -9, Requantization::fixed_point), {{3, 37}}},
                {"empty", {int8_spec({0}, {.scales = {1.0F}})}, to(0.5, 0), {{0}}}},
      .rejects = {{"int8_without_a_quantization", {plain_int8({3})}, to(1.0, 0), "quantize it"},
                  {"scales_along_an_axis",
                   {int8_spec({2, 3}, {.scales = {1.0F, 2.0F}, .axis = 0})},
                   to(1.0, 0),
                   "one scale for the whole tensor"},
                  {"scales_too_far_apart", {x}, to(1e-12, 0), "too far apart"},
                  {"a_negative_scale", {x}, to(-1.0, 0), "above 0"}},
  };
}

TEST(requantize, equals_the_oracle_for_every_number) {
  std::vector<int8_t> all(256);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int8_t>(static_cast<int>(i) - 128);
  for (const Requantization how : kRequantizations) {
    for (const float from : {0.1F, 0.37F, 12.0F}) {
      for (const float scale : {0.1F, 0.025F, 0.74F, 300.0F}) {
        for (const int zero : {-128, -3, 90}) {
          const Tensor x =
              quantized_tensor(DType::i8, {256}, all, {.scales = {from}, .zero_points = {zero}});
          const auto y = values_of<int8_t>(
              run_op("requantize", to(static_cast<double>(scale), 5, how), {x}, Kernel::fast)[0]);
          const double factor = static_cast<double>(from) / static_cast<double>(scale);
          for (size_t i = 0; i < all.size(); ++i) {
            ASSERT_EQ(y[i], oracle_requantize(all[i] - zero, factor, 5, how))
                << from << " " << scale << " " << zero << " " << i;
          }
        }
      }
    }
  }
}

}  // namespace thimble::test::requantize_test
