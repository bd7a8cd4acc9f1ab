#include <gtest/gtest.h>

#include "harness/rebuild_cases.h"
#include "ops/families/norm/norm_cases.h"
#include "ops/group_norm/attrs.h"

namespace thimble::test::group_norm_test {
namespace {

OpCase normalised(const char* name, const Shape& x, int64_t groups, bool affine = true,
                  double epsilon = 1e-5) {
  return channel_norm_case(name, x, groups, affine, ir::Attrs::of(GroupNormAttrs{groups, epsilon}));
}

}  // namespace

THIMBLE_OP_CASES(group_norm) {
  const auto attrs = [](int64_t groups) { return ir::Attrs::of(GroupNormAttrs{groups}); };
  return {
      .cases = {normalised("images", {3, 5, 7, 6}, 3), normalised("one_group", {3, 5, 7, 6}, 1),
                normalised("every_channel", {3, 5, 7, 6}, 6),
                normalised("one_channel", {2, 5, 7, 1}, 1), normalised("vectors", {5, 12}, 3),
                normalised("sequences", {2, 9, 32}, 8),
                normalised("many_channels", {2, 3, 3, 260}, 4),
                normalised("large_images", {2, 41, 50, 10}, 5),
                normalised("many_large_images", {17, 60, 30, 10}, 2),
                normalised("without_parameters", {3, 4, 4, 6}, 2, false),
                normalised("large_epsilon", {3, 4, 4, 6}, 2, true, 0.5),
                normalised("one_pixel", {3, 1, 1, 8}, 2), normalised("no_images", {0, 3, 3, 4}, 2),
                normalised("empty_images", {2, 0, 3, 4}, 2)},
      .rejects =
          {{"groups_that_do_not_divide", {{.shape = {2, 3, 5}}}, attrs(2), "divide the 5 channels"},
           {"no_groups", {{.shape = {2, 3, 5}}}, attrs(0), "divide the 5 channels"},
           {"a_vector", {{.shape = {6}}}, attrs(2), "expected x [N, ..., C]"},
           {"another_gamma",
            {{.shape = {3, 4}}, {.shape = {3}}},
            attrs(2),
            "expected gamma of shape [4]"}},
  };
}

THIMBLE_OP_CASES(group_norm_apply) {
  OpCases made{
      .cases = rebuild_cases(
          {normalised("images", {3, 5, 7, 6}, 3), normalised("large_images", {2, 41, 50, 10}, 5),
           normalised("without_parameters", {3, 4, 4, 6}, 2, false),
           normalised("vectors", {5, 12}, 3), normalised("empty_images", {2, 0, 3, 4}, 2)},
          {0, 1, 2, ~1, ~2})};
  for (OpCase& test : made.cases) {
    test.attrs = ir::Attrs::of(ops::GroupNormApplyAttrs{});
    test.inputs[4].low = 0.1;  // a variance
  }
  return made;
}

TEST(group_norm, is_made_again_bit_by_bit) {
  expect_rebuilt("group_norm", normalised("images", {3, 5, 7, 6}, 3));
  expect_rebuilt("group_norm", normalised("large_images", {2, 41, 50, 10}, 5));
  expect_rebuilt("group_norm", normalised("without_parameters", {3, 4, 4, 6}, 2, false));
}

}  // namespace thimble::test::group_norm_test
