#include <gtest/gtest.h>
#include <thimble/ops.h>

namespace thimble::test::tanhshrink_test {
namespace {

TEST(tanhshrink, keeps_the_shape) {
  Graph g;
  EXPECT_EQ(to_string(tanhshrink(g.input("x", {4})).shape()), "[N, 4]");
}

}  // namespace
}  // namespace thimble::test::tanhshrink_test
