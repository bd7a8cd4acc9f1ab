#include "ops/families/quantized/pair_cases.h"

namespace thimble::test::quantized_sub_test {

THIMBLE_OP_CASES(quantized_sub) { return quantized_pair_cases<QuantizedSubAttrs>(); }

TEST(quantized_sub, equals_the_definition_for_every_pair) {
  expect_every_pair<QuantizedSubAttrs>("quantized_sub", oracle_sum<-1>);
}

}  // namespace thimble::test::quantized_sub_test
