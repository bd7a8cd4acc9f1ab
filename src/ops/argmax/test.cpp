#include "ops/families/extremum/extremum_cases.h"

namespace thimble::test::argmax_test {

THIMBLE_OP_CASES(argmax) { return extremum_place_cases(); }

TEST(argmax, gives_the_first_of_equals_and_of_nan) {
  expect_places("argmax", {2, 5, 5, 1, NAN, NAN, NAN, 9, 1}, {1, 1, 0});
}

TEST(argmax, finds_nan_and_the_infinite_wherever_they_are) {
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    for (const float odd : {NAN, INFINITY}) {
      for (const int32_t place : {0, 5, 16, 47, 70}) {
        std::vector<float> x(71, -INFINITY);
        x[static_cast<size_t>(place)] = odd;
        x[70] = odd;
        EXPECT_EQ(values_of<int32_t>(run_op("argmax", along(1), {tensor({1, 71}, x)}, kernel)[0]),
                  std::vector<int32_t>{place});
      }
    }
    const Tensor least = tensor({1, 20}, std::vector<float>(20, -INFINITY));
    EXPECT_EQ(values_of<int32_t>(run_op("argmax", along(1), {least}, kernel)[0]),
              std::vector<int32_t>{0});
  }
}

}  // namespace thimble::test::argmax_test
