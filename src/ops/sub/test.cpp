#include "ops/families/binary/binary_cases.h"

namespace thimble::test::sub_test {

THIMBLE_OP_CASES(sub) { return {.cases = binary_cases({}, {}), .rejects = binary_rejects()}; }

}  // namespace thimble::test::sub_test
