#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "harness/op_run.h"
#include "ops/activation_bits/dims.h"
#include "ops/families/unary/unary_cases.h"

namespace thimble::test::activation_bits_test {
namespace {

namespace micro {
using real = float;
#include "ops/families/unary/grad_by_bits_micro.h"
}  // namespace micro

ir::Attrs tested(BitTest test, double low, double high = 0.0) {
  return ir::Attrs::of(ActivationBitsAttrs{test, low, high});
}

}  // namespace

THIMBLE_OP_CASES(activation_bits) {
  const TensorSpec values{.low = -3, .high = 3};
  return {.cases = unary_cases(values) +
                   unary_cases(values, tested(BitTest::above_or_nan, 0.5), "_not_at_most") +
                   unary_cases(values, tested(BitTest::inside, -1, 1), "_inside") +
                   unary_cases(values, tested(BitTest::within, -2, 1), "_within") +
                   unary_cases(values, tested(BitTest::outside, -1, 1.5), "_outside"),
          .rejects = unary_rejects()};
}

THIMBLE_OP_CASES(grad_by_bits) {
  const auto of = [](const char* name, const Shape& shape, double slope) {
    return OpCase{.name = name,
                  .inputs = {{.shape = shape}, {.shape = shape, .dtype = DType::boolean}},
                  .attrs = ir::Attrs::of(GradByBitsAttrs{slope}),
                  .expect = {shape}};
  };
  return {.cases = {of("matrix", {3, 7}, 0), of("scalar", {}, 0), of("empty", {0, 4}, 0),
                    of("two_and_a_half_tiles", {40001}, 0), of("sloped", {5, 13}, 0.25)},
          .rejects = {{.name = "bits_of_another_shape",
                       .inputs = {{.shape = {2}}, {.shape = {3}, .dtype = DType::boolean}},
                       .error = "a bit for every element"}}};
}

namespace {

// Each test at its bounds and at NaN, where the activations differ from one another.
TEST(activation_bits, decides_bounds_and_nan_as_the_activations_do) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> x = {-2, -1, -0.5F, 1, 2, nan, INFINITY, -INFINITY};
  const auto bits = [&](BitTest test, Kernel which) {
    const auto made = run_op("activation_bits", tested(test, -1, 1), {tensor({8}, x)}, which);
    return static_cast<int>(made[0][0]);
  };
  for (const Kernel which : {Kernel::reference, Kernel::fast}) {
    EXPECT_EQ(bits(BitTest::above, which), 0b01011100);
    EXPECT_EQ(bits(BitTest::above_or_nan, which), 0b01111100);
    EXPECT_EQ(bits(BitTest::inside, which), 0b00100100);
    EXPECT_EQ(bits(BitTest::within, which), 0b00101110);
    EXPECT_EQ(bits(BitTest::outside, which), 0b11110001);
  }
}

}  // namespace
TEST(grad_by_bits, of_microcontrollers_has_the_results_of_the_reference) {
  for (const int n : {5, 8, 2051}) {
    std::vector<float> dy;
    std::vector<uint8_t> bits;
    for (int i = 0; i < n; ++i) dy.push_back(static_cast<float>(i) - 100.5F);
    for (int i = 0; i < n; i += 8) bits.push_back(static_cast<uint8_t>(i / 8));
    for (const float slope : {0.0F, 0.25F}) {
      const grad_by_bits_dims d{n, slope};
      std::vector<float> wanted;
      for (size_t i = 0; i < dy.size(); ++i) {
        const bool is_set = (bits[i / 8] >> (i % 8) & 1) != 0;
        wanted.push_back(is_set ? dy[i] : slope != 0 ? slope * dy[i] : 0.0F);
      }
      std::vector<float> made = dy;  // in place
      micro::grad_by_bits_ref(made.data(), made.data(), bits.data(), &d);
      EXPECT_EQ(made, wanted) << n << " " << slope;
    }
  }
}

}  // namespace thimble::test::activation_bits_test
