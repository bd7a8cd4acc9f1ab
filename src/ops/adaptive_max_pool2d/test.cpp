#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/families/update/adaptive_cases.h"

namespace thimble::test::adaptive_max_pool2d_test {

THIMBLE_OP_CASES(adaptive_max_pool2d) {
  return adaptive_cases([](Pair size) { return ir::Attrs::of(AdaptiveMaxPool2dOptions{size}); }, 2);
}

namespace {

TEST(adaptive_max_pool2d, is_ordinary_pooling_where_sizes_divide) {
  Graph g;
  const Value x = g.input("x", {6, 4, 3});
  EXPECT_EQ(to_string(adaptive_max_pool2d(x, {.size = {3, 2}}).shape()), "[N, 3, 2, 3]");
  EXPECT_STREQ(g.ir().nodes.back().op->name, "max_pool2d");
  EXPECT_EQ(to_string(adaptive_max_pool2d(x, {.size = {4, 2}}).shape()), "[N, 4, 2, 3]");
  EXPECT_STREQ(g.ir().nodes.back().op->name, "adaptive_max_pool2d");
}

TEST(adaptive_max_pool1d, pools_sequences) {
  Graph g;
  EXPECT_EQ(to_string(adaptive_max_pool1d(g.input("x", {7, 3}), {.size = 4}).shape()), "[N, 4, 3]");
  EXPECT_THAT([&] { adaptive_max_pool1d(g.input("v", {7})); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("sequences [N, L, C]")));
}

}  // namespace
}  // namespace thimble::test::adaptive_max_pool2d_test
