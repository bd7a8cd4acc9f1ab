#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/ops.h>

namespace thimble::test::smooth_l1_test {
namespace {

TEST(smooth_l1, is_one_number_or_the_terms) {
  Graph g;
  const Value x = g.input("x", {4});
  const Value t = g.input("t", {4});
  EXPECT_EQ(to_string(smooth_l1(x, t).shape()), "[]");
  EXPECT_EQ(to_string(smooth_l1(x, t, {.reduction = Reduction::none}).shape()), "[N, 4]");
}

TEST(smooth_l1, refuses_other_shapes) {
  Graph g;
  EXPECT_THAT([&] { smooth_l1(g.input("a", {3}), g.input("b", {4})); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("shape")));
}

}  // namespace
}  // namespace thimble::test::smooth_l1_test
