// The test cases of max and min, argmax and argmin, maximum and minimum.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_cases.h"
#include "harness/op_run.h"

namespace thimble::test {

inline ir::Attrs over(std::vector<int64_t> axes, bool keepdims = false) {
  return ir::Attrs::of(ReduceOptions{std::move(axes), keepdims});
}

inline ir::Attrs along(int64_t axis, bool keepdims = false) {
  return ir::Attrs::of(ArgmaxOptions{axis, keepdims});
}

inline ir::Attrs of_all(bool keepdims = false) {
  return ir::Attrs::of(ArgmaxOptions{.keepdims = keepdims, .flat = true});
}

// Reductions over axes.
inline OpCases extremum_cases() {
  const auto of = [](const char* name, const Shape& shape, const ir::Attrs& attrs, const Shape& y) {
    return OpCase{.name = name,
                  .inputs = {{.shape = shape, .distinct = true}},
                  .attrs = attrs,
                  .expect = {y}};
  };
  return {
      .cases = {of("all", {3, 4, 5}, over({}), {}), of("last", {3, 37}, over({-1}), {3}),
                of("first_kept", {37, 5}, over({0}, true), {1, 5}),
                of("images", {3, 6, 7, 5}, over({1, 2}), {3, 5}),
                of("long_rows", {3, 1001}, over({1}), {3}),
                of("many_rows", {701, 33}, over({1}), {701}),
                of("many_columns", {3, 9, 131}, over({1}, true), {3, 1, 131}),
                of("interleaved", {3, 4, 5, 6}, over({0, 2}), {4, 6}),
                of("batch_of_1", {1, 9}, over({0}), {9}), of("scalar", {}, over({}), {}),
                of("no_rows", {0, 3}, over({1}), {0})},
      .rejects = {{"of_nothing", {{.shape = {3, 0}}}, over({1}), "smallest element of nothing"},
                  {"no_such_axis", {{.shape = {3, 4}}}, over({2}), "there is no axis 2"},
                  {"doubles", {{.shape = {3}, .dtype = DType::f64}}, over({}), "cast first"}},
  };
}

inline void expect_nan_counts_as_extreme(const char* op) {
  for (const size_t place : {0, 1, 16, 63, 64, 150}) {
    std::vector<float> x(151, 1.0F);
    x[place] = NAN;
    for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
      const auto of_row = run_op(op, over({1}), {tensor({1, 151}, x)}, kernel);
      EXPECT_TRUE(std::isnan(values_of<float>(of_row[0])[0])) << place;
      const auto of_columns = run_op(op, over({0}), {tensor({151, 1}, x)}, kernel);
      EXPECT_TRUE(std::isnan(values_of<float>(of_columns[0])[0])) << place;
    }
  }
}

// Positions of extrema.
inline OpCases extremum_place_cases() {
  return {
      .cases =
          {{"classes", {{.shape = {3, 10}}}, along(-1), {{3}}},
           {"first_kept", {{.shape = {7, 3}}}, along(0, true), {{1, 3}}},
           {"middle", {{.shape = {3, 5, 4}}}, along(1), {{3, 4}}},
           {"batch_of_1", {{.shape = {1, 4}}}, along(1), {{1}}},
           {"one_axis", {{.shape = {6}}}, along(0), {{}}},
           {"long_rows", {{.shape = {3, 1001}}}, along(1), {{3}}},
           {"many_rows", {{.shape = {701, 17}}}, along(1), {{701}}},
           {"many_equals", {{.shape = {50, 99}, .low = 0.5, .high = 0.50001}}, along(1), {{50}}},
           {"no_rows", {{.shape = {0, 3}}}, along(1), {{0}}},
           {"all", {{.shape = {3, 5, 4}}}, of_all(), {{}}},
           {"all_kept", {{.shape = {3, 5}}}, of_all(true), {{1, 1}}},
           {"scalar", {{.shape = {}}}, of_all(), {{}}}},
      .rejects = {{"empty_axis", {{.shape = {3, 0}}}, along(1), "smallest element of nothing"},
                  {"all_of_nothing", {{.shape = {3, 0}}}, of_all(), "smallest element of nothing"},
                  {"no_such_axis", {{.shape = {3}}}, along(1), "there is no axis 1"},
                  {"scalar", {{.shape = {}}}, along(-1), "there is no axis -1"},
                  {"doubles", {{.shape = {3}, .dtype = DType::f64}}, along(0), "cast first"}},
  };
}

// Checks that the first of equal elements is chosen, and the first NaN. x: [3, 3].
inline void expect_places(const char* op, const std::vector<float>& x,
                          const std::vector<int32_t>& places) {
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    EXPECT_EQ(values_of<int32_t>(run_op(op, along(1), {tensor({3, 3}, x)}, kernel)[0]), places);
  }
}

// Two operands.
inline OpCases extremum_of_two_cases() {
  const auto of = [](const char* name, const Shape& a, const Shape& b, const Shape& y) {
    return OpCase{.name = name,
                  .inputs = {{.shape = a, .distinct = true},
                             {.shape = b, .low = -0.97, .high = 0.97, .distinct = true}},
                  .expect = {y}};
  };
  // Among so many pairs some are too close for finite differences.
  OpCase long_vectors = of("long_vectors", {40001}, {40001}, {40001});
  long_vectors.no_grad = {0, 1};
  return {
      .cases = {of("one_shape", {3, 7}, {3, 7}, {3, 7}), of("row", {5, 19}, {19}, {5, 19}),
                of("column", {5, 19}, {5, 1}, {5, 19}), of("both", {3, 1, 5}, {4, 1}, {3, 4, 5}),
                of("scalar", {}, {7}, {7}), of("scalars", {}, {}, {}), long_vectors,
                of("empty", {0, 3}, {3}, {0, 3})},
      .rejects =
          {{"shapes", {{.shape = {3, 4}}, {.shape = {3}}}, {}, "shapes that broadcast"},
           {"doubles", {{.shape = {3}, .dtype = DType::f64}, {.shape = {3}}}, {}, "cast first"}},
  };
}

inline void expect_nan_where_one_input_is(const char* op) {
  const Tensor a = tensor({3}, {NAN, 1, NAN});
  const Tensor b = tensor({3}, {1, NAN, NAN});
  for (const Kernel kernel : {Kernel::fast, Kernel::reference}) {
    for (const float y : values_of<float>(run_op(op, {}, {a, b}, kernel)[0])) {
      EXPECT_TRUE(std::isnan(y));
    }
  }
}

}  // namespace thimble::test
