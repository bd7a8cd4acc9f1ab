#include "ops/families/move/move_cases.h"

namespace thimble::test::flip_test {

THIMBLE_OP_CASES(flip) {
  const auto around = [](std::vector<int64_t> axes) {
    return ir::Attrs::of(FlipOptions{std::move(axes)});
  };
  const TensorSpec x{.shape = {3, 5, 4}};
  OpCases own{
      .cases = {{"first", {x}, around({0}), {{3, 5, 4}}},
                {"middle", {x}, around({1}), {{3, 5, 4}}},
                {"last", {x}, around({-1}), {{3, 5, 4}}},
                {"all", {x}, around({0, 1, 2}), {{3, 5, 4}}},
                {"nothing", {x}, around({}), {{3, 5, 4}}},
                {"one_element", {{.shape = {1, 1}}}, around({0}), {{1, 1}}},
                {"empty", {{.shape = {0, 3}}}, around({0, 1}), {{0, 3}}}},
      .rejects = {{"no_such_axis", {x}, around({3}), "there is no axis 3"},
                  {"axis_named_twice", {x}, around({1, -2}), "named twice"}},
  };
  return with_types(std::move(own), {3, 5}, around({1}), {3, 5});
}

}  // namespace thimble::test::flip_test
