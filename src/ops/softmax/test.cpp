#include "ops/families/softmax/softmax_cases.h"

namespace thimble::test::softmax_test {

THIMBLE_OP_CASES(softmax) { return softmax_cases(); }

TEST(softmax, neither_overflows_nor_hides_nan) {
  expect_neither_overflow_nor_lost_nan("softmax", 1.0F, 0.0F);
}

}  // namespace thimble::test::softmax_test
