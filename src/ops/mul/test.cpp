#include "ops/families/binary/binary_cases.h"

namespace thimble::test::mul_test {

THIMBLE_OP_CASES(mul) { return {.cases = binary_cases({}, {}), .rejects = binary_rejects()}; }

}  // namespace thimble::test::mul_test
