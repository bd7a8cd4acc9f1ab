#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_cases.h"
#include "harness/op_run.h"

namespace thimble::test::clamp_test {

THIMBLE_OP_CASES(clamp) {
  const auto of = [](const char* name, const Shape& x, TensorSpec low, TensorSpec high,
                     const Shape& y) {
    low.low = -0.63;
    low.high = -0.21;
    low.distinct = true;
    high.low = 0.17;
    high.high = 0.71;
    high.distinct = true;
    return OpCase{
        .name = name, .inputs = {{.shape = x, .distinct = true}, low, high}, .expect = {y}};
  };
  const TensorSpec none{.absent = true};
  return {
      .cases = {of("one_shape", {3, 7}, {.shape = {3, 7}}, {.shape = {3, 7}}, {3, 7}),
                of("rows_and_columns", {3, 7}, {.shape = {7}}, {.shape = {3, 1}}, {3, 7}),
                of("low_alone", {3, 7}, {.shape = {7}}, none, {3, 7}),
                of("high_alone", {3, 7}, none, {.shape = {}}, {3, 7}),
                of("x_repeated", {7}, {.shape = {3, 1}}, {.shape = {3, 1}}, {3, 7}),
                of("empty", {0, 7}, {.shape = {7}}, none, {0, 7})},
      .rejects = {{"no_bound", {{.shape = {3}}, none, none}, {}, "expected a lower bound"},
                  {"shapes", {{.shape = {3}}, {.shape = {4}}, none}, {}, "shapes that broadcast"}},
  };
}

TEST(clamp, by_no_number_is_no_number) {
  const Tensor x = tensor({4}, {0, 1, 2, NAN});
  const Tensor low = tensor({4}, {NAN, 0, 3, 0});
  const Tensor high = tensor({4}, {1, NAN, NAN, 1});
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    for (const float y : values_of<float>(run_op("clamp", {}, {x, low, high}, kernel)[0])) {
      EXPECT_TRUE(std::isnan(y));
    }
  }
}

}  // namespace thimble::test::clamp_test
