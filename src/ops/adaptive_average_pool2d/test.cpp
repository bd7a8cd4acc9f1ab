#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/families/update/adaptive_cases.h"

namespace thimble::test::adaptive_average_pool2d_test {

THIMBLE_OP_CASES(adaptive_average_pool2d) {
  return adaptive_cases([](Pair size) { return ir::Attrs::of(AdaptiveAveragePool2dOptions{size}); },
                        1);
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

TEST(adaptive_average_pool3d, pools_volumes) {
  Graph g;
  const Value x = g.input("x", {7, 5, 4, 3});
  EXPECT_EQ(to_string(adaptive_average_pool3d(x, {.size = {4}}).shape()), "[N, 4, 4, 4, 3]");
  EXPECT_EQ(to_string(adaptive_average_pool3d(x, {.size = {2, 0, 1}}).shape()), "[N, 2, 5, 1, 3]");
  EXPECT_THAT(
      [&] {
        adaptive_average_pool3d(g.input("v", {7, 7, 3}));
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("[N, D, H, W, C]")));
  EXPECT_THAT(
      [&] {
        adaptive_average_pool3d(x, {.size = {1, 2}});
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("[adaptive_average_pool3d]")));
  EXPECT_THAT(
      [&] {
        adaptive_average_pool3d(g.input("flat", {7, 0, 4, 3}), {.size = {2}});
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("[adaptive_average_pool3d]")));
}

}  // namespace
}  // namespace thimble::test::adaptive_average_pool2d_test
