#include "ops/families/move/move_cases.h"
#include "ops/transpose/attrs.h"

namespace thimble::test::transpose_test {
namespace {

ir::Attrs order(std::vector<int64_t> axes) {
  return ir::Attrs::of(TransposeAttrs{std::move(axes)});
}

}  // namespace

THIMBLE_OP_CASES(transpose) {
  const TensorSpec x{.shape = {2, 3, 4}};
  OpCases own{
      .cases =
          {{"matrix", {{.shape = {3, 5}}}, order({}), {{5, 3}}},
           {"to_channels_first", {{.shape = {2, 3, 4, 5}}}, order({0, 3, 1, 2}), {{2, 5, 3, 4}}},
           {"from_the_end", {x}, order({-1, 0, -2}), {{4, 2, 3}}},
           {"last_axis_stays", {x}, order({1, 0, 2}), {{3, 2, 4}}},
           {"nothing_moves", {x}, order({0, 1, 2}), {{2, 3, 4}}},
           {"size_1", {{.shape = {1, 3, 1}}}, order({2, 1, 0}), {{1, 3, 1}}},
           {"scalar", {{.shape = {}}}, order({}), {{}}},
           {"empty", {{.shape = {3, 0, 2}}}, order({}), {{2, 0, 3}}},
           {"squares_and_parts_of_them", {{.shape = {67, 131}}}, order({1, 0}), {{131, 67}}},
           {"images_of_channels",
            {{.shape = {3, 9, 11, 70}}},
            order({0, 3, 1, 2}),
            {{3, 70, 9, 11}}},
           {"heads", {{.shape = {3, 17, 4, 9}}}, order({0, 2, 1, 3}), {{3, 4, 17, 9}}},
           {"far_axis_first", {{.shape = {5, 7, 66}}}, order({2, 0, 1}), {{66, 5, 7}}},
           {"all_reversed", {{.shape = {6, 5, 70}}}, order({}), {{70, 5, 6}}},
           {"eight_axes",
            {{.shape = {2, 1, 2, 3, 2, 1, 2, 2}}},
            order({7, 6, 5, 4, 3, 2, 1, 0}),
            {{2, 2, 1, 2, 3, 2, 1, 2}}}},
      .rejects = {{"too_few", {x}, order({1, 0}), "expected 3 axes"},
                  {"twice", {x}, order({0, 1, 1}), "axis 1 is named twice"},
                  {"no_such_axis", {x}, order({0, 1, 3}), "there is no axis 3"}},
  };
  return with_types(std::move(own), {3, 4}, order({1, 0}), {4, 3});
}

}  // namespace thimble::test::transpose_test
