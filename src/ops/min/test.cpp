#include "ops/families/extremum/extremum_cases.h"

namespace thimble::test::min_test {

THIMBLE_OP_CASES(min) { return extremum_cases(); }

TEST(min, takes_nan_for_the_smallest) { expect_nan_counts_as_extreme("min"); }

}  // namespace thimble::test::min_test
