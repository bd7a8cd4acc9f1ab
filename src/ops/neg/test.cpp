#include "ops/families/unary/unary_cases.h"

namespace thimble::test::neg_test {

THIMBLE_OP_CASES(neg) { return {.cases = unary_cases({}), .rejects = unary_rejects()}; }

}  // namespace thimble::test::neg_test
