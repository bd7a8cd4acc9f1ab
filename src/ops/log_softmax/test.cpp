#include "ops/families/softmax/softmax_cases.h"

namespace thimble::test::log_softmax_test {

THIMBLE_OP_CASES(log_softmax) { return softmax_cases(); }

TEST(log_softmax, neither_overflows_nor_hides_nan) {
  expect_neither_overflow_nor_lost_nan("log_softmax", 0.0F, -1e30F - 1e30F);
}

}  // namespace thimble::test::log_softmax_test
