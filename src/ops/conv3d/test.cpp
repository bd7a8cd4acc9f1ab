#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/ops.h>

#include <cmath>

#include "ir/graph.h"

namespace thimble::test::conv3d_test {
namespace {

TEST(conv3d, makes_a_layer_with_pytorchs_first_values) {
  Graph g;
  const Value y = conv3d(g.input("x", {8, 9, 10, 4}),
                         {.channels = 6, .kernel = {3, 1, 2}, .stride = {2}, .groups = 2});
  EXPECT_EQ(to_string(y.shape()), "[N, 3, 5, 5, 6]");
  EXPECT_EQ(g.ir().find_source("conv3d_1.weight").shape(), (Shape{6, 3, 1, 2, 2}));
  EXPECT_EQ(g.ir().find_source("conv3d_1.bias").shape(), (Shape{6}));
  const Initializer bias = g.ir().data(g.ir().find_source("conv3d_1.bias").id()).init;
  EXPECT_DOUBLE_EQ(bias.b, 1.0 / std::sqrt(12.0));
}

TEST(conv3d, refuses_what_does_not_fit) {
  Graph g;
  const Value x = g.input("x", {4, 4, 4, 2});
  const auto expect_error = [&](const Conv3dOptions& options, const char* message) {
    EXPECT_THAT([&] { conv3d(x, options); },
                testing::ThrowsMessage<Error>(
                    testing::AllOf(testing::HasSubstr("[conv3d]"), testing::HasSubstr(message))));
  };
  expect_error({.channels = 3, .kernel = {5}}, "covers 5 planes does not fit a volume of 4");
  expect_error({.channels = 3, .kernel = {3, 5, 3}}, "does not fit an image");
  expect_error({.channels = 3, .kernel = {3, 3}}, "expected kernel as one number, or three");
  expect_error({.channels = 3, .kernel = {1}, .stride = {0}}, "expected stride of at least 1");
  expect_error({.channels = 3, .kernel = {1}, .padding = {1, 2}}, "got 2 numbers");
  expect_error({.channels = 3, .kernel = {1}, .groups = 2}, "expected groups to divide");
  expect_error({.kernel = {1}}, "at least 1 output channel");
  EXPECT_THAT(
      [&] {
        conv3d(g.input("image", {4, 4, 2}), {.channels = 3});
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("volumes [N, D, H, W, C]")));
}

}  // namespace
}  // namespace thimble::test::conv3d_test
