#include "ops/families/quantized/table_cases.h"

namespace thimble::test::quantized_tanh_test {

THIMBLE_OP_CASES(quantized_tanh) { return quantized_table_cases<QuantizedTanhAttrs>(); }

TEST(quantized_tanh, equals_the_definition_for_every_number) {
  expect_every_number<QuantizedTanhAttrs>(
      "quantized_tanh", [](double x) { return 1.0 - 2.0 / (std::exp(2.0 * x) + 1.0); });
}

}  // namespace thimble::test::quantized_tanh_test
