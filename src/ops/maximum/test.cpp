#include "ops/families/extremum/extremum_cases.h"

namespace thimble::test::maximum_test {

THIMBLE_OP_CASES(maximum) { return extremum_of_two_cases(); }

TEST(maximum, is_nan_where_one_input_is) { expect_nan_where_one_input_is("maximum"); }

}  // namespace thimble::test::maximum_test
