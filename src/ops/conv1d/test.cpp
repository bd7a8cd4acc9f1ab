#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/ops.h>

#include <cmath>

#include "ir/graph.h"

namespace thimble::test::conv1d_test {
namespace {

TEST(conv1d, makes_a_layer_with_pytorchs_first_values) {
  Graph g;
  const Value y = conv1d(g.input("x", {20, 4}), {.channels = 6, .kernel = 5, .groups = 2});
  EXPECT_EQ(to_string(y.shape()), "[N, 16, 6]");
  EXPECT_EQ(g.ir().find_source("conv1d_1.weight").shape(), (Shape{6, 5, 2}));
  EXPECT_EQ(g.ir().find_source("conv1d_1.bias").shape(), (Shape{6}));
  const Initializer bias = g.ir().data(g.ir().find_source("conv1d_1.bias").id()).init;
  EXPECT_DOUBLE_EQ(bias.b, 1.0 / std::sqrt(10.0));
}

TEST(conv1d, keeps_the_length_with_same_padding) {
  Graph g;
  const Value x = g.input("x", {9, 2});
  EXPECT_EQ(
      to_string(
          conv1d(x, {.channels = 3, .kernel = 4, .stride = 2, .padding = Padding::same()}).shape()),
      "[N, 5, 3]");
}

TEST(conv1d, refuses_what_is_no_sequence) {
  Graph g;
  EXPECT_THAT([&] { conv1d(g.input("x", {4}), {.channels = 3}); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("sequences [N, L, C]")));
}

TEST(depthwise_conv1d, gives_every_channel_its_own_window) {
  Graph g;
  const Value x = g.input("x", {8, 6});
  EXPECT_EQ(to_string(depthwise_conv1d(x, {.kernel = 3, .padding = 1}).shape()), "[N, 8, 6]");
  EXPECT_EQ(g.ir().find_source("depthwise_conv1d_1.weight").shape(), (Shape{6, 3, 1}));
  EXPECT_THAT([&] { depthwise_conv1d(x, {.channels = 8}); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("multiple of the 6")));
}

}  // namespace
}  // namespace thimble::test::conv1d_test
