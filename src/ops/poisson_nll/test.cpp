#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/ops.h>

namespace thimble::test::poisson_nll_test {
namespace {

TEST(poisson_nll, is_one_number_or_the_terms) {
  Graph g;
  const Value x = g.input("x", {4});
  const Value t = g.input("t", {4});
  EXPECT_EQ(to_string(poisson_nll(x, t).shape()), "[]");
  EXPECT_EQ(to_string(poisson_nll(x, t, {.reduction = Reduction::none}).shape()), "[N, 4]");
}

TEST(poisson_nll, refuses_other_shapes) {
  Graph g;
  EXPECT_THAT([&] { poisson_nll(g.input("a", {3}), g.input("b", {4})); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("shape")));
}

}  // namespace
}  // namespace thimble::test::poisson_nll_test
