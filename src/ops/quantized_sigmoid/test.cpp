#include "ops/families/quantized/table_cases.h"

namespace thimble::test::quantized_sigmoid_test {

THIMBLE_OP_CASES(quantized_sigmoid) { return quantized_table_cases<QuantizedSigmoidAttrs>(); }

TEST(quantized_sigmoid, equals_the_definition_for_every_number) {
  expect_every_number<QuantizedSigmoidAttrs>(
      "quantized_sigmoid", [](double x) { return 0.5 + 0.5 * std::tanh(0.5 * x); });
}

}  // namespace thimble::test::quantized_sigmoid_test
