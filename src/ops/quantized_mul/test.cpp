#include "ops/families/quantized/pair_cases.h"

namespace thimble::test::quantized_mul_test {
namespace {

// See PairOracle.
int8_t oracle(int a, int b, double scale, Requantization how, double low) {
  const double factor = how == Requantization::fixed_point
                            ? static_cast<double>(0.05F * 0.13F / static_cast<float>(scale))
                            : static_cast<double>(0.05F) * static_cast<double>(0.13F) /
                                  static_cast<double>(static_cast<float>(scale));
  return oracle_requantize(int64_t{a} * b, factor, 6, how, low);
}

}  // namespace

THIMBLE_OP_CASES(quantized_mul) { return quantized_pair_cases<QuantizedMulAttrs>(); }

TEST(quantized_mul, equals_the_definition_for_every_pair) {
  expect_every_pair<QuantizedMulAttrs>("quantized_mul", oracle);
}

}  // namespace thimble::test::quantized_mul_test
