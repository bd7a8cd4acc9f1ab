#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/ops.h>

#include "ir/graph.h"

namespace thimble::test::conv_transpose1d_test {
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

TEST(conv_transpose1d, names_itself_and_its_own_shapes_in_errors) {
  Graph g;
  const Value x = g.input("x", {10, 4});
  const auto refuses = [&](const Shape& weight, const ConvTranspose1dAttrs& attrs,
                           const char* what) {
    const Value w = g.parameter("w" + std::to_string(g.ir().values.size()), weight, init::zeros());
    EXPECT_THAT(
        [&] { conv_transpose1d(x, w, {}, attrs); },
        testing::ThrowsMessage<Error>(testing::AllOf(
            testing::StartsWith("[conv_transpose1d] "), testing::HasSubstr(what),
            testing::Not(testing::HasSubstr("1, 10")), testing::HasSubstr(to_string(weight)))));
  };
  refuses({5, 3, 6}, {}, "[C, size, K / groups]");
  refuses({4, 3, 6}, {.stride = 0}, "a stride of at least 1");
  refuses({4, 3, 6}, {.output_padding = 1}, "output_padding");
  refuses({4, 3, 6}, {.padding = 9}, "nothing is left");
}

}  // namespace
}  // namespace thimble::test::conv_transpose1d_test
