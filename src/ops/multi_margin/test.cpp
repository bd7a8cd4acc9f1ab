#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/ops.h>

namespace thimble::test::multi_margin_test {
namespace {

TEST(multi_margin, is_one_number_or_the_terms) {
  Graph g;
  const Value x = g.input("x", {4});
  const Value t = g.label("t");
  EXPECT_EQ(to_string(multi_margin(x, t).shape()), "[]");
  EXPECT_EQ(to_string(multi_margin(x, t, {.reduction = Reduction::none}).shape()), "[N]");
}

TEST(multi_margin, refuses_other_shapes) {
  Graph g;
  EXPECT_THAT(
      [&] {
        multi_margin(g.input("a", {3, 2}), g.label("b"));
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("shape")));
}

}  // namespace
}  // namespace thimble::test::multi_margin_test
