#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/ops.h>

namespace thimble::test::average_pool1d_test {
namespace {

TEST(average_pool1d, halves_sequences) {
  Graph g;
  EXPECT_EQ(to_string(average_pool1d(g.input("x", {9, 4})).shape()), "[N, 4, 4]");
}

TEST(average_pool1d, refuses_images) {
  Graph g;
  EXPECT_THAT(
      [&] {
        average_pool1d(g.input("x", {9, 9, 4}));
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("sequences [N, L, C]")));
}

}  // namespace
}  // namespace thimble::test::average_pool1d_test
