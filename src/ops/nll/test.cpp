#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/ops.h>

namespace thimble::test::nll_test {
namespace {

TEST(nll, is_one_number_or_one_a_row) {
  Graph g;
  const Value x = g.input("x", {4});
  const Value t = g.label("t");
  EXPECT_EQ(to_string(nll(x, t).shape()), "[]");
  EXPECT_EQ(to_string(nll(x, t, {.reduction = Reduction::none}).shape()), "[N]");
}

TEST(nll, refuses_other_shapes) {
  Graph g;
  EXPECT_THAT(
      [&] {
        nll(g.input("a", {3, 2}), g.label("b"));
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("[nll] expected one class index a row")));
}

}  // namespace
}  // namespace thimble::test::nll_test
