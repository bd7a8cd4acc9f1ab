#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/ops.h>

#include "ir/graph.h"

namespace thimble {
namespace {

TEST(conv_transpose1d, makes_a_layer) {
  Graph g;
  const Value y = conv_transpose1d(g.input("x", {10, 4}),
                                   {.channels = 6, .kernel = 4, .stride = 2, .padding = 1});
  EXPECT_EQ(to_string(y.shape()), "[N, 20, 6]");
  EXPECT_EQ(g.ir().find_source("conv_transpose1d_1.weight").shape(), (Shape{4, 4, 6}));
  EXPECT_EQ(g.ir().find_source("conv_transpose1d_1.bias").shape(), (Shape{6}));
}

TEST(conv_transpose1d, refuses_weights_of_other_ranks) {
  Graph g;
  const Value x = g.input("x", {10, 4});
  const Value w = g.parameter("w", {4, 1, 3, 6}, init::zeros());
  EXPECT_THAT([&] { conv_transpose1d(x, w, {}); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("three dimensions")));
}

}  // namespace
}  // namespace thimble
