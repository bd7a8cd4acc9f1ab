#include <gtest/gtest.h>

#include "harness/rebuild_cases.h"
#include "ops/families/norm/norm_cases.h"
#include "ops/families/norm/row_norm.h"

namespace thimble::test::rms_norm_test {
namespace {

OpCase normalised(const char* name, const Shape& x, int64_t dims = 1, bool gamma = true,
                  double epsilon = 1e-5) {
  return {.name = name,
          .inputs = {{.shape = x}, {.shape = ops::last_dims(x, dims), .absent = !gamma}},
          .attrs = ir::Attrs::of(RmsNormAttrs{dims, epsilon}),
          .expect = {x, ops::first_dims(x, dims)},
          .tolerance = kNormTolerance,
          .no_cotangent = {1}};
}

}  // namespace

THIMBLE_OP_CASES(rms_norm) {
  OpCases all{
      .cases = row_norm_cases([](const char* name, const Shape& x, int64_t dims, double epsilon) {
        return normalised(name, x, dims, true, epsilon);
      }),
      .rejects = row_norm_rejects([](int64_t dims) { return ir::Attrs::of(RmsNormAttrs{dims}); }),
  };
  all.cases.push_back(normalised("without_scale", {4, 33}, 1, false));
  return all;
}

THIMBLE_OP_CASES(rms_norm_apply) {
  return {.cases = rebuild_cases(
              {normalised("rows", {5, 37}), normalised("two_dimensions", {4, 3, 5}, 2),
               normalised("without_scale", {4, 33}, 1, false), normalised("no_rows", {0, 6})},
              {0, 1, ~1})};
}

TEST(rms_norm, is_made_again_bit_by_bit) {
  expect_rebuilt("rms_norm", normalised("rows", {57, 37}));
  expect_rebuilt("rms_norm", normalised("without_scale", {4, 33}, 1, false));
}

TEST(rms_norm, adds_a_scale_unless_told_not_to) {
  Graph g;
  const Value x = g.input("x", {4, 6});
  rms_norm(x);
  EXPECT_EQ(g.ir().find_source("rms_norm_1.weight").shape(), (Shape{6}));
  rms_norm(x, RmsNormOptions{.affine = false});
  EXPECT_FALSE(g.ir().find_source("rms_norm_2.weight"));
}

}  // namespace thimble::test::rms_norm_test
