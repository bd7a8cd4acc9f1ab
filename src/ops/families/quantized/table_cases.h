// Shared by the tests of quantized ops of one tensor that are tables.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ops/families/quantized/quantized_cases.h"

namespace thimble::test {

// Functions rounded to f32, then the quotient: at most so far from a half the oracle may round to
// the other side. Results are at most 334 steps, of which f32 has 2^-15.
inline constexpr double kNearHalf = 1e-4;

template <class AttrsT>
ir::Attrs table_result(double scale, int64_t zero_point, Requantization how = {}) {
  return ir::Attrs::of(AttrsT{scale, zero_point, how});
}

template <class AttrsT>
OpCases quantized_table_cases() {
  const auto to = table_result<AttrsT>;
  const TensorSpec x = int8_spec({3, 37}, {.scales = {0.04F}, .zero_points = {-7}});
  return {
      .cases = {{"usual_scale", {x}, to(1.0 / 256.0, -128, {}), {{3, 37}}},
                {"fixed_point", {x}, to(1.0 / 128.0, 0, Requantization::fixed_point), {{3, 37}}},
                {"many",
                 {int8_spec({3, 9001}, {.scales = {0.004F}, .zero_points = {90}})},
                 to(0.01, 4, {}),
                 {{3, 9001}}},
                {"empty", {int8_spec({0}, {.scales = {1.0F}})}, to(0.5, 0, {}), {{0}}}},
      .rejects = {{"int8_without_a_quantization", {plain_int8({3})}, to(1.0, 0, {}), "quantize it"},
                  {"scales_along_an_axis",
                   {int8_spec({2, 3}, {.scales = {1.0F, 2.0F}, .axis = 0})},
                   to(1.0, 0, {}),
                   "one scale for the whole tensor"},
                  {"a_negative_scale", {x}, to(-1.0, 0, {}), "above 0"},
                  {"a_zero_point_beyond_int8", {x}, to(1.0, 128, {}), "from -128 to 127"}},
  };
}

// Compares kernels and masks with the definition for all numbers of int8.
template <class AttrsT>
void expect_every_number(const char* op, double (*f)(double)) {
  const std::string mask = std::string(op) + "_inside";
  std::vector<int8_t> all(256);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int8_t>(static_cast<int>(i) - 128);
  for (const Requantization how : kRequantizations) {
    for (const float from : {0.004F, 0.05F, 1.3F}) {
      for (const float scale : {1.0F / 256.0F, 1.0F / 128.0F, 0.003F}) {
        for (const int zero : {-128, -3, 90}) {
          const Tensor x =
              quantized_tensor(DType::i8, {256}, all, {.scales = {from}, .zero_points = {zero}});
          const ir::Attrs attrs = table_result<AttrsT>(static_cast<double>(scale), -40, how);
          const auto y = values_of<int8_t>(run_op(op, attrs, {x}, Kernel::fast)[0]);
          const auto bits = values_of<uint8_t>(run_op(mask.c_str(), attrs, {x}, Kernel::fast)[0]);
          int clamped = 0;
          for (size_t i = 0; i < all.size(); ++i) {
            const auto real = static_cast<double>(from * static_cast<float>(all[i] - zero));
            const double steps = f(real) / static_cast<double>(scale);
            // The function and the quotient are rounded to f32: near a half either side is right.
            const double half = std::abs(std::abs(steps - std::trunc(steps)) - 0.5);
            const double nearest =
                how == Requantization::fixed_point ? std::round(steps) : std::nearbyint(steps);
            const double wanted = nearest - 40.0;
            const double error =
                std::abs(static_cast<double>(y[i]) - static_cast<double>(oracle_clamp(wanted)));
            ASSERT_LE(error, half < kNearHalf ? 1.0 : 0.0) << from << " " << scale << " " << i;
            const bool is_inside = wanted >= -128.0 && wanted <= 127.0;
            if (half >= kNearHalf) {
              ASSERT_EQ(bits[i / 8] >> (i % 8) & 1, is_inside ? 1 : 0) << i;
            }
            clamped += is_inside ? 0 : 1;
          }
          // A scale of 0.003 holds no result of 1 at this zero point.
          if (from > 1.0F && scale < 0.0035F) {
            EXPECT_GT(clamped, 20);
          }
        }
      }
    }
  }
}

}  // namespace thimble::test
