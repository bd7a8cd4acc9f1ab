#include <gtest/gtest.h>
#include <thimble/ops.h>

namespace thimble::test::lp_pool2d_test {
namespace {

TEST(lp_pool2d, halves_images) {
  Graph g;
  EXPECT_EQ(to_string(lp_pool2d(g.input("x", {4, 6, 3})).shape()), "[N, 2, 3, 3]");
}

}  // namespace
}  // namespace thimble::test::lp_pool2d_test
