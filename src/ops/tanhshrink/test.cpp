#include <gtest/gtest.h>
#include <thimble/ops.h>

namespace thimble {
namespace {

TEST(tanhshrink, keeps_the_shape) {
  Graph g;
  EXPECT_EQ(to_string(tanhshrink(g.input("x", {4})).shape()), "[N, 4]");
}

}  // namespace
}  // namespace thimble
