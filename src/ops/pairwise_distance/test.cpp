#include <gtest/gtest.h>
#include <thimble/ops.h>

namespace thimble::test::pairwise_distance_test {
namespace {

TEST(pairwise_distance, takes_the_last_axis_away) {
  Graph g;
  const Value x = g.input("x", {4, 5});
  EXPECT_EQ(to_string(pairwise_distance(x, x).shape()), "[N, 4]");
  EXPECT_EQ(to_string(pairwise_distance(x, x, {.keepdims = true}).shape()), "[N, 4, 1]");
}

}  // namespace
}  // namespace thimble::test::pairwise_distance_test
