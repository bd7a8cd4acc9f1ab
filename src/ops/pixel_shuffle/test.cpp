#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/ops.h>

namespace thimble::test::pixel_shuffle_test {
namespace {

TEST(pixel_shuffle, refuses_sizes_that_do_not_fit) {
  Graph g;
  const Value x = g.input("x", {4, 6, 6});
  const auto throws = [](const char* message) {
    return testing::ThrowsMessage<Error>(testing::HasSubstr(message));
  };
  EXPECT_THAT([&] { pixel_shuffle(x, {2}); }, throws("a multiple of 4"));
  EXPECT_THAT([&] { pixel_shuffle(x, {0}); }, throws("a factor of 1"));
  EXPECT_THAT([&] { pixel_unshuffle(x, {3}); }, throws("multiples of 3"));
  EXPECT_THAT([&] { pixel_unshuffle(g.input("v", {4}), {1}); }, throws("[N, H, W, C]"));
}

TEST(pixel_shuffle, keeps_the_batch_open) {
  Graph g;
  const Value x = g.input("x", {4, 6, 8});
  EXPECT_EQ(to_string(pixel_shuffle(x, {2}).shape()), "[N, 8, 12, 2]");
  EXPECT_EQ(to_string(pixel_unshuffle(x, {2}).shape()), "[N, 2, 3, 32]");
}

}  // namespace
}  // namespace thimble::test::pixel_shuffle_test
