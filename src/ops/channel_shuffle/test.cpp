#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/ops.h>

namespace thimble::test::channel_shuffle_test {
namespace {

TEST(channel_shuffle, keeps_the_shape) {
  Graph g;
  EXPECT_EQ(to_string(channel_shuffle(g.input("x", {4, 5, 6}), {3}).shape()), "[N, 4, 5, 6]");
  EXPECT_EQ(to_string(channel_shuffle(g.input("v", {6}), {2}).shape()), "[N, 6]");
}

TEST(channel_shuffle, refuses_groups_that_do_not_divide) {
  Graph g;
  const Value x = g.input("x", {4, 6});
  for (const int64_t groups : {0, -1, 4}) {
    EXPECT_THAT([&] { channel_shuffle(x, {groups}); },
                testing::ThrowsMessage<Error>(testing::HasSubstr("groups that divide C")));
  }
}

}  // namespace
}  // namespace thimble::test::channel_shuffle_test
