#include "ops/families/binary/binary_cases.h"

namespace thimble::test::div_test {

THIMBLE_OP_CASES(div) {
  return {.cases = binary_cases({}, {.gap = 0.3}), .rejects = binary_rejects()};
}

}  // namespace thimble::test::div_test
