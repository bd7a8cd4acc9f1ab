#include <gtest/gtest.h>

#include "ops/families/quantized/quantized_cases.h"

namespace thimble::test::dequantize_test {

THIMBLE_OP_CASES(dequantize) {
  const Quantization whole{.scales = {0.1F}, .zero_points = {-7}};
  return {
      .cases = {{"one_scale", {int8_spec({3, 5, 4}, whole)}, {}, {{3, 5, 4}}},
                {"scales_along_the_first_axis",
                 {int8_spec({3, 5}, {.scales = {0.5F, 0.1F, 2.0F}, .axis = 0})},
                 {},
                 {{3, 5}}},
                {"scales_along_an_inner_axis",
                 {int8_spec({4, 2, 3},
                            {.scales = {0.5F, 0.1F}, .zero_points = {1, -2}, .axis = 1})},
                 {},
                 {{4, 2, 3}}},
                {"scalar", {int8_spec({}, whole)}, {}, {{}}},
                {"empty", {int8_spec({0, 3}, whole)}, {}, {{0, 3}}}},
      .rejects = {{"int8_without_a_quantization", {plain_int8({3})}, {}, "with a quantization"},
                  {"numbers", {{.shape = {3}}}, {}, "must be i8, got f32: quantize it first"}},
  };
}

TEST(dequantize, multiplies_by_the_scale_of_each_index) {
  const Tensor x =
      quantized_tensor<int8_t>(DType::i8, {2, 3}, {-128, 0, 127, 4, -4, 5},
                               {.scales = {0.5F, 0.125F}, .zero_points = {-128, 4}, .axis = 0});
  EXPECT_EQ(values_of<float>(run_op("dequantize", {}, {x}, Kernel::fast)[0]),
            (std::vector<float>{0.0F, 64.0F, 127.5F, 0.0F, -1.0F, 0.125F}));
}

// Every number of int8 comes back under its own scale and zero point.
TEST(dequantize, is_undone_by_quantize) {
  std::vector<int8_t> all(256);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int8_t>(static_cast<int>(i) - 128);
  for (const double scale : {0.0078431377, 0.1, 3.7, 1e-20}) {
    for (const int zero : {-128, -5, 0, 127}) {
      const Quantization q{.scales = {static_cast<float>(scale)}, .zero_points = {zero}};
      const Tensor x = quantized_tensor(DType::i8, {256}, all, q);
      const auto numbers = values_of<float>(run_op("dequantize", {}, {x}, Kernel::fast)[0]);
      const ir::Attrs back = ir::Attrs::of(QuantizeOptions{scale, zero});
      EXPECT_EQ(
          values_of<int8_t>(run_op("quantize", back, {tensor({256}, numbers)}, Kernel::fast)[0]),
          all)
          << scale << " " << zero;
    }
  }
}

}  // namespace thimble::test::dequantize_test
