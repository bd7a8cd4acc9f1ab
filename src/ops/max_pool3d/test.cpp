#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thimble/error.h>
#include <thimble/ops.h>

#include "ir/graph.h"

namespace thimble::test::max_pool3d_test {
namespace {

TEST(max_pool3d, halves_volumes) {
  Graph g;
  EXPECT_EQ(to_string(max_pool3d(g.input("x", {8, 9, 7, 4})).shape()), "[N, 4, 4, 3, 4]");
}

TEST(max_pool3d, counts_the_pixels_of_large_planes_exactly) {
  Graph g;
  max_pool3d_with_indices(g.input("x", {2, 4097, 4099, 1}), {.kernel = {2}});
  std::vector<int64_t> numbers;
  for (const ir::ValueData& value : g.ir().values) {
    if (value.role == ir::Role::constant && value.type.dtype == DType::i32) {
      numbers.push_back(value.data->integers().at(0));
    }
    EXPECT_FALSE(value.role == ir::Role::constant && value.type.dtype == DType::f32);
  }
  // Pixels of a pooled plane and of a plane: above 2^24 f32 holds even numbers alone.
  EXPECT_THAT(numbers, testing::UnorderedElementsAre(2048 * 2049, 4097 * 4099));
}

TEST(max_pool3d, refuses_what_does_not_fit) {
  Graph g;
  const Value x = g.input("x", {4, 4, 4, 2});
  const auto expect_error = [&](const MaxPool3dOptions& options, const char* message) {
    EXPECT_THAT([&] { max_pool3d(x, options); },
                testing::ThrowsMessage<Error>(testing::AllOf(testing::HasSubstr("[max_pool3d]"),
                                                             testing::HasSubstr(message))));
  };
  expect_error({.kernel = {5}}, "does not fit");
  expect_error({.kernel = {2}, .padding = {2}}, "expected padding below the size of the window");
  expect_error({.kernel = {2, 2}}, "got 2 numbers");
  EXPECT_THAT(
      [&] {
        max_pool3d(g.input("image", {4, 4, 2}));
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("volumes [N, D, H, W, C]")));
}

}  // namespace
}  // namespace thimble::test::max_pool3d_test
