#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/ops.h>

namespace thimble::test::margin_ranking_test {
namespace {

TEST(margin_ranking, is_one_number_or_the_terms) {
  Graph g;
  const Value x = g.input("x", {4});
  const Value t = g.input("t", {4});
  EXPECT_EQ(to_string(margin_ranking(x, t, t).shape()), "[]");
  EXPECT_EQ(to_string(margin_ranking(x, t, t, {.reduction = Reduction::none}).shape()), "[N, 4]");
}

TEST(margin_ranking, refuses_other_shapes) {
  Graph g;
  EXPECT_THAT([&] { margin_ranking(g.input("a", {3}), g.input("b", {4}), g.input("c", {3})); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("shape")));
}

}  // namespace
}  // namespace thimble::test::margin_ranking_test
