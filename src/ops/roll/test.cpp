#include <gtest/gtest.h>

#include <cstdint>

#include "autodiff/autodiff.h"
#include "harness/op_run.h"
#include "ops/families/move/move_cases.h"

namespace thimble::test::roll_test {

THIMBLE_OP_CASES(roll) {
  const auto attrs = [](std::vector<int64_t> shifts, std::vector<int64_t> axes) {
    return ir::Attrs::of(RollOptions{std::move(shifts), std::move(axes)});
  };
  const auto of = [&](const char* name, const Shape& x, std::vector<int64_t> shifts,
                      std::vector<int64_t> axes) {
    return move_case(name, x, attrs(std::move(shifts), std::move(axes)), x);
  };
  const TensorSpec x{.shape = {3, 4}};
  OpCases own{
      .cases = {of("last", {3, 5}, {2}, {-1}), of("first", {5, 3}, {-1}, {0}),
                of("middle", {2, 5, 3}, {3}, {1}), of("axes_0_and_2", {3, 2, 5, 4}, {1, 3}, {0, 2}),
                of("all", {3, 4, 5}, {1, 2, 3}, {2, 1, 0}),
                of("axis_twice", {7, 2}, {3, 6}, {0, 0}), of("flat", {3, 4}, {5}, {}),
                of("far", {4, 3}, {-1001}, {0}), of("by_nothing", {4, 3}, {8}, {0}),
                of("many_rows", {300, 70}, {11}, {1}), of("scalar", {}, {3}, {}),
                of("empty", {0, 3}, {1, 1}, {0, 1})},
      .rejects = {{"no_such_axis", {x}, attrs({1}, {2}), "there is no axis 2"},
                  {"no_axes", {x}, attrs({1, 2}, {}), "one shift where there are no axes"},
                  {"fewer_axes", {x}, attrs({1, 2}, {1}), "2 shifts and 1 axes"}},
  };
  return with_types(std::move(own), {3, 5}, attrs({2}, {1}), {3, 5});
}

TEST(roll, by_more_places_than_a_number_holds) {
  Graph g;
  const Value x = g.constant("x", {7}, {0, 1, 2, 3, 4, 5, 6});
  const auto rolled = [&](std::vector<int64_t> shifts, std::vector<int64_t> axes) {
    return evaluate(roll(x, {std::move(shifts), std::move(axes)}));
  };
  // 2^63 - 1 is a multiple of 7, so that -2^63 is -1 and the sum of both others is 2.
  const std::vector<float> down = {1, 2, 3, 4, 5, 6, 0};
  EXPECT_EQ(rolled({INT64_MIN}, {0}), down);
  EXPECT_EQ(rolled({INT64_MIN}, {}), down);
  EXPECT_EQ(rolled({INT64_MAX, INT64_MAX, 2}, {0, 0, 0}),
            (std::vector<float>{5, 6, 0, 1, 2, 3, 4}));
}

// -2^63 has no negative by which the gradient could be rolled back.
TEST(roll, sends_gradients_back_by_as_many_places) {
  for (const bool is_flat : {false, true}) {
    Graph g;
    const Value x = g.constant("x", {7}, {0, 0, 0, 0, 0, 0, 0});
    const Value up = g.constant("up", {7}, {0, 1, 2, 3, 4, 5, 6});
    const Value y = roll(x, {.shifts = {INT64_MIN},
                             .axes = is_flat ? std::vector<int64_t>{} : std::vector<int64_t>{0}});
    const std::vector<autodiff::Cotangent> seeds = {{y, up}};
    const std::vector<int> wanted = {x.id()};
    const int gradient = autodiff::append_gradients(g.ir(), seeds, wanted)[0].gradient;
    ASSERT_GE(gradient, 0);
    EXPECT_EQ(evaluate(g.ir().value(gradient)), (std::vector<float>{6, 0, 1, 2, 3, 4, 5}));
  }
}

}  // namespace thimble::test::roll_test
