#include "ops/families/binary/binary_cases.h"

namespace thimble::test::add_test {

THIMBLE_OP_CASES(add) { return {.cases = binary_cases({}, {}), .rejects = binary_rejects()}; }

}  // namespace thimble::test::add_test
