#include "ops/families/extremum/extremum_cases.h"

namespace thimble::test::argmin_test {

THIMBLE_OP_CASES(argmin) { return extremum_place_cases(); }

TEST(argmin, gives_the_first_of_equals_and_of_nan) {
  expect_places("argmin", {5, 2, 2, 1, NAN, NAN, NAN, 9, 1}, {1, 1, 0});
}

}  // namespace thimble::test::argmin_test
