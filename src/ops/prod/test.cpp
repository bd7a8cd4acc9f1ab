#include "ops/families/reduction/reduction_cases.h"
#include "ops/sum/attrs.h"

namespace thimble::test::prod_test {

THIMBLE_OP_CASES(prod) { return reduction_cases<ReduceOptions>(0.3); }

}  // namespace thimble::test::prod_test
