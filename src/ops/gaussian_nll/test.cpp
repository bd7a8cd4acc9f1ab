#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/ops.h>

namespace thimble::test::gaussian_nll_test {
namespace {

TEST(gaussian_nll, is_one_number_or_the_terms) {
  Graph g;
  const Value x = g.input("x", {4});
  const Value t = g.input("t", {4});
  const Value v = g.input("v", {1});
  EXPECT_EQ(to_string(gaussian_nll(x, t, v).shape()), "[]");
  EXPECT_EQ(to_string(gaussian_nll(x, t, v, {.reduction = Reduction::none}).shape()), "[N, 4]");
}

TEST(gaussian_nll, refuses_other_shapes) {
  Graph g;
  EXPECT_THAT([&] { gaussian_nll(g.input("a", {3}), g.input("b", {4}), g.input("c", {3})); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("shape")));
}

}  // namespace
}  // namespace thimble::test::gaussian_nll_test
