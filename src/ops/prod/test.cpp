#include "ops/families/reduction/reduction_cases.h"

namespace thimble::test::prod_test {

THIMBLE_OP_CASES(prod) { return reduction_cases<ReduceOptions>(0.3); }

}  // namespace thimble::test::prod_test
