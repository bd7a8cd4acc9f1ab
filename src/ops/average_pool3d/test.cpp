#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/ops.h>

namespace thimble::test::average_pool3d_test {
namespace {

TEST(average_pool3d, halves_volumes) {
  Graph g;
  EXPECT_EQ(to_string(average_pool3d(g.input("x", {8, 9, 7, 4})).shape()), "[N, 4, 4, 3, 4]");
}

TEST(average_pool3d, refuses_what_does_not_fit) {
  Graph g;
  const Value x = g.input("x", {4, 4, 4, 2});
  const auto expect_error = [&](const AveragePool3dOptions& options, const char* message) {
    EXPECT_THAT([&] { average_pool3d(x, options); },
                testing::ThrowsMessage<Error>(testing::AllOf(testing::HasSubstr("[average_pool3d]"),
                                                             testing::HasSubstr(message))));
  };
  expect_error({.kernel = {5}}, "does not fit");
  expect_error({.kernel = {2}, .stride = {0}}, "expected stride of at least 1");
  EXPECT_THAT(
      [&] {
        average_pool3d(g.input("image", {4, 4, 2}));
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("volumes [N, D, H, W, C]")));
}

}  // namespace
}  // namespace thimble::test::average_pool3d_test
