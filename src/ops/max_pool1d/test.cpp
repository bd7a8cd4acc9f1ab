#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/ops.h>

namespace thimble::test::max_pool1d_test {
namespace {

TEST(max_pool1d, halves_sequences) {
  Graph g;
  EXPECT_EQ(to_string(max_pool1d(g.input("x", {9, 4})).shape()), "[N, 4, 4]");
}

TEST(max_pool1d, refuses_images) {
  Graph g;
  EXPECT_THAT(
      [&] {
        max_pool1d(g.input("x", {9, 9, 4}));
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("sequences [N, L, C]")));
}

}  // namespace
}  // namespace thimble::test::max_pool1d_test
