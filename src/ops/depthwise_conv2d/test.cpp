#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/ops.h>

#include "ir/graph.h"

namespace thimble::test::depthwise_conv2d_test {
namespace {

TEST(depthwise_conv2d, gives_every_channel_its_own_window) {
  Graph g;
  const Value x = g.input("x", {8, 8, 6});
  const Value y = depthwise_conv2d(x, {.kernel = 3, .stride = 2, .padding = 1});
  EXPECT_EQ(to_string(y.shape()), "[N, 4, 4, 6]");
  EXPECT_EQ(g.ir().find_source("depthwise_conv2d_1.weight").shape(), (Shape{6, 3, 3, 1}));
}

TEST(depthwise_conv2d, takes_a_multiple_of_the_channels) {
  Graph g;
  const Value x = g.input("x", {8, 8, 6});
  EXPECT_EQ(to_string(depthwise_conv2d(x, {.channels = 12}).shape()), "[N, 8, 8, 12]");
  EXPECT_THAT([&] { depthwise_conv2d(x, {.channels = 8}); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("multiple of the 6")));
}

}  // namespace
}  // namespace thimble::test::depthwise_conv2d_test
