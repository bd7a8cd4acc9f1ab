#include "ops/families/extremum/extremum_cases.h"

namespace thimble::test::minimum_test {

THIMBLE_OP_CASES(minimum) { return extremum_of_two_cases(); }

TEST(minimum, is_nan_where_one_input_is) { expect_nan_where_one_input_is("minimum"); }

}  // namespace thimble::test::minimum_test
