#include "ops/families/quantized/pair_cases.h"

namespace thimble::test::quantized_add_test {
namespace {

// See PairOracle.
int8_t oracle(int a, int b, double scale, Requantization how, double low) {
  if (how == Requantization::fixed_point) {
    const double twice = 2.0 * static_cast<double>(0.13F);
    const int64_t sum = oracle_times(int64_t{a} << 20, static_cast<double>(0.05F) / twice) +
                        oracle_times(int64_t{b} << 20, static_cast<double>(0.13F) / twice);
    const double back = twice / (1048576.0 * static_cast<double>(static_cast<float>(scale)));
    return oracle_clamp(static_cast<double>(oracle_times(sum, back) + 6), low);
  }
  // Each step is rounded to float once.
  const auto left = static_cast<float>(static_cast<double>(a) * static_cast<double>(0.05F));
  const auto right = static_cast<float>(static_cast<double>(b) * static_cast<double>(0.13F));
  const auto sum = static_cast<float>(static_cast<double>(left) + static_cast<double>(right));
  const float quotient = sum / static_cast<float>(scale);
  return oracle_clamp(std::nearbyint(static_cast<double>(quotient)) + 6.0, low);
}

}  // namespace

THIMBLE_OP_CASES(quantized_add) { return quantized_pair_cases<QuantizedAddAttrs>(); }

TEST(quantized_add, equals_the_definition_for_every_pair) {
  expect_every_pair<QuantizedAddAttrs>("quantized_add", oracle);
}

}  // namespace thimble::test::quantized_add_test
