#include <gtest/gtest.h>

#include <cmath>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "ops/sum/attrs.h"

namespace thimble::test {
namespace {

ir::Attrs over(std::vector<int64_t> axes, bool keepdims = false) {
  return ir::Attrs::of(ReduceOptions{std::move(axes), keepdims});
}

OpCase distinct(const char* name, const Shape& shape, const ir::Attrs& attrs, const Shape& y) {
  return {
      .name = name, .inputs = {{.shape = shape, .distinct = true}}, .attrs = attrs, .expect = {y}};
}

}  // namespace

THIMBLE_OP_CASES(min) {
  return {
      .cases = {distinct("all", {3, 4, 5}, over({}), {}),
                distinct("last", {3, 37}, over({-1}), {3}),
                distinct("first_kept", {37, 5}, over({0}, true), {1, 5}),
                distinct("images", {3, 6, 7, 5}, over({1, 2}), {3, 5}),
                distinct("interleaved", {3, 4, 5, 6}, over({0, 2}), {4, 6}),
                distinct("batch_of_1", {1, 9}, over({0}), {9}),
                distinct("scalar", {}, over({}), {}), distinct("no_rows", {0, 3}, over({1}), {0})},
      .rejects = {{"of_nothing", {{.shape = {3, 0}}}, over({1}), "no smallest element"},
                  {"no_such_axis", {{.shape = {3, 4}}}, over({2}), "there is no axis 2"},
                  {"integers", {{.shape = {3}, .dtype = DType::i32}}, over({}), "of type f32"}},
  };
}

TEST(min, takes_nan_for_the_smallest) {
  const auto y = run_op("min", over({1}), {tensor({2, 2}, {1, NAN, NAN, 1})}, Kernel::fast);
  for (const float v : values_of<float>(y[0])) EXPECT_TRUE(std::isnan(v));
}

}  // namespace thimble::test
