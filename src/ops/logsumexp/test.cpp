#include <gtest/gtest.h>
#include <thimble/ops.h>

namespace thimble::test::logsumexp_test {
namespace {

TEST(logsumexp, takes_axes_away) {
  Graph g;
  const Value x = g.input("x", {4, 5});
  EXPECT_EQ(to_string(logsumexp(x).shape()), "[]");
  EXPECT_EQ(to_string(logsumexp(x, {.axes = {1}}).shape()), "[N, 5]");
  EXPECT_EQ(to_string(logsumexp(x, {.axes = {2}, .keepdims = true}).shape()), "[N, 4, 1]");
}

}  // namespace
}  // namespace thimble::test::logsumexp_test
