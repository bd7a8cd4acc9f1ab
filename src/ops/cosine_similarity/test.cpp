#include <gtest/gtest.h>
#include <thimble/ops.h>

namespace thimble::test::cosine_similarity_test {
namespace {

TEST(cosine_similarity, takes_the_axis_away) {
  Graph g;
  const Value x = g.input("x", {4, 5});
  EXPECT_EQ(to_string(cosine_similarity(x, x).shape()), "[N, 4]");
  EXPECT_EQ(to_string(cosine_similarity(x, x, {.axis = 1}).shape()), "[N, 5]");
}

}  // namespace
}  // namespace thimble::test::cosine_similarity_test
