// Test cases of softmax and log_softmax.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "ops/families/softmax/softmax.h"

namespace thimble::test {

inline OpCases softmax_cases() {
  const auto attrs = [](int64_t axis) { return ir::Attrs::of(SoftmaxOptions{axis}); };
  const auto over = [&](const char* name, const Shape& shape, int64_t axis, double range = 3.0) {
    return OpCase{.name = name,
                  .inputs = {{.shape = shape, .low = -range, .high = range}},
                  .attrs = attrs(axis),
                  .expect = {shape}};
  };
  return {
      .cases = {over("classes", {3, 10}, -1), over("first_axis", {5, 3}, 0),
                over("middle_axis", {2, 5, 3}, 1), over("one_class", {3, 1}, 1),
                over("many_columns", {3, 7, 131}, 1), over("first_of_many", {301, 67}, 0),
                over("far_apart_columns", {33, 3}, 0, 60.0), over("batch_of_1", {1, 37}, 1),
                over("one_axis", {6}, 0), over("no_rows", {0, 4}, 1), over("no_classes", {4, 0}, 1),
                over("far_apart", {3, 33}, 1, 60.0), over("many_rows", {1001, 17}, 1),
                over("long_rows", {3, 10007}, 1)},
      .rejects = {{"no_such_axis", {{.shape = {2, 3}}}, attrs(2), "there is no axis 2"},
                  {"scalar", {{.shape = {}}}, attrs(-1), "there is no axis -1"},
                  {"doubles", {{.shape = {2, 3}, .dtype = DType::f64}}, attrs(-1), "cast first"}},
  };
}

// first, second: the results for 1e30 and -1e30.
inline void expect_neither_overflow_nor_lost_nan(const char* op, float first, float second) {
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    const auto run = [&](const Shape& shape, const std::vector<float>& x, int64_t axis) {
      const auto attrs = ir::Attrs::of(SoftmaxOptions{axis});
      return values_of<float>(run_op(op, attrs, {tensor(shape, x)}, kernel)[0]);
    };
    const auto large = run({3}, {1e30F, -1e30F, 0.0F}, -1);
    EXPECT_EQ(large[0], first);
    EXPECT_EQ(large[1], second);
    for (const float y : run({3}, {1.0F, NAN, 2.0F}, -1)) EXPECT_TRUE(std::isnan(y));
    // A column with NaN does not affect the next column.
    const auto columns = run({2, 2}, {1.0F, 1.0F, NAN, 2.0F}, 0);
    EXPECT_TRUE(std::isnan(columns[0]) && std::isnan(columns[2]));
    EXPECT_FALSE(std::isnan(columns[1]) || std::isnan(columns[3]));
  }
}

}  // namespace thimble::test
