#include <gtest/gtest.h>

#include "harness/rebuild_cases.h"
#include "ops/families/norm/row_norm.h"

namespace thimble::test::rms_norm_test {
namespace {

// Rounding of sums of up to some thousand values in float, in another order.
constexpr double kTolerance = 1e-4;

OpCase normalised(const char* name, const Shape& x, int64_t dims = 1, bool gamma = true,
                  double epsilon = 1e-5) {
  return {.name = name,
          .inputs = {{.shape = x}, {.shape = ops::last_dims(x, dims), .absent = !gamma}},
          .attrs = ir::Attrs::of(RmsNormAttrs{dims, epsilon}),
          .expect = {x, ops::first_dims(x, dims)},
          .tolerance = kTolerance,
          .no_cotangent = {1}};
}

}  // namespace

THIMBLE_OP_CASES(rms_norm) {
  const auto attrs = [](int64_t dims) { return ir::Attrs::of(RmsNormAttrs{dims}); };
  return {
      .cases = {normalised("rows", {5, 37}), normalised("time_steps", {3, 7, 64}),
                normalised("two_dimensions", {4, 3, 5}, 2), normalised("everything", {2, 3, 4}, 3),
                normalised("without_scale", {4, 33}, 1, false),
                normalised("large_epsilon", {4, 33}, 1, true, 0.5),
                normalised("one_value", {3, 1}, 1, true, 0.1), normalised("batch_of_1", {1, 130}),
                normalised("many_rows", {1500, 19}), normalised("long_rows", {3, 5003}),
                normalised("no_rows", {0, 6}), normalised("empty_rows", {3, 0})},
      .rejects = {{"too_many_dimensions", {{.shape = {3, 4}}}, attrs(3), "at least the 3"},
                  {"another_gamma",
                   {{.shape = {3, 4}}, {.shape = {3}}},
                   attrs(1),
                   "expected gamma of shape [4]"},
                  {"integers", {{.shape = {3}, .dtype = DType::i32}}, attrs(1), "of type f32"}},
  };
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
