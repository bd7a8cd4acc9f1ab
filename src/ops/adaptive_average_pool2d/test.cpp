#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/op_cases.h"
#include "ops/adaptive_average_pool2d/attrs.h"

namespace thimble::test {

THIMBLE_OP_CASES(adaptive_average_pool2d) {
  const auto to = [](Pair size) { return ir::Attrs::of(AdaptiveAveragePool2dOptions{size}); };
  const auto of = [&](const char* name, const Shape& x, Pair size, const Shape& y) {
    return OpCase{
        .name = name, .inputs = {{.shape = x, .distinct = true}}, .attrs = to(size), .expect = {y}};
  };
  return {
      .cases = {of("uneven", {3, 5, 7, 6}, {3, 2}, {3, 3, 2, 6}),
                of("even", {2, 6, 4, 3}, {3, 2}, {2, 3, 2, 3}),
                of("larger", {2, 3, 2, 5}, {4, 7}, {2, 4, 7, 5}),
                of("as_x", {2, 3, 5, 2}, {0, 2}, {2, 3, 2, 2}),
                of("whole_image", {2, 5, 3, 4}, 1, {2, 1, 1, 4}),
                of("one_pixel", {1, 1, 1, 2}, {3, 3}, {1, 3, 3, 2}),
                of("empty_batch", {0, 5, 3, 4}, 2, {0, 2, 2, 4})},
      .rejects = {{"negative", {{.shape = {1, 4, 4, 2}}}, to(-1), "a size of at least 1"},
                  {"empty_images", {{.shape = {1, 0, 4, 2}}}, to(2), "at least 1 by 1"},
                  {"sequences", {{.shape = {1, 4, 2}}}, to(2), "expected x to be images"}},
  };
}

namespace {

TEST(adaptive_average_pool2d, is_ordinary_pooling_where_sizes_divide) {
  Graph g;
  const Value x = g.input("x", {6, 4, 3});
  EXPECT_EQ(to_string(adaptive_average_pool2d(x, {.size = {3, 2}}).shape()), "[N, 3, 2, 3]");
  EXPECT_STREQ(g.ir().nodes.back().op->name, "average_pool2d");
  EXPECT_EQ(to_string(adaptive_average_pool2d(x, {.size = {4, 2}}).shape()), "[N, 4, 2, 3]");
  EXPECT_STREQ(g.ir().nodes.back().op->name, "adaptive_average_pool2d");
}

TEST(adaptive_average_pool1d, pools_sequences) {
  Graph g;
  EXPECT_EQ(to_string(adaptive_average_pool1d(g.input("x", {7, 3}), {.size = 4}).shape()),
            "[N, 4, 3]");
  EXPECT_THAT([&] { adaptive_average_pool1d(g.input("v", {7})); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("sequences [N, L, C]")));
}

}  // namespace
}  // namespace thimble::test
