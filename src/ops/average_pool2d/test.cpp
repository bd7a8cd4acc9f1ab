#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/op_cases.h"
#include "ops/average_pool2d/attrs.h"

namespace thimble::test {
namespace {

OpCase pooled(const char* name, const Shape& x, const Shape& y,
              const AveragePool2dAttrs& attrs = {}) {
  return {.name = name, .inputs = {{.shape = x}}, .attrs = ir::Attrs::of(attrs), .expect = {y}};
}

RejectCase refused(const char* name, const Shape& x, const char* error,
                   const AveragePool2dAttrs& attrs = {}) {
  return {name, {{.shape = x}}, ir::Attrs::of(attrs), error};
}

}  // namespace

THIMBLE_OP_CASES(average_pool2d) {
  return {
      .cases =
          {
              pooled("halves", {3, 8, 6, 6}, {3, 4, 3, 6}),
              pooled("odd_sizes", {3, 9, 7, 5}, {3, 4, 3, 5}),
              pooled("one_channel", {3, 6, 6, 1}, {3, 3, 3, 1}),
              pooled("many_channels", {1, 5, 4, 35}, {1, 2, 2, 35}),
              pooled("overlapping_padded", {3, 9, 8, 4}, {3, 5, 4, 4},
                     {.kernel = 3, .stride = 2, .padding = 1}),
              pooled("padding_that_does_not_count", {3, 9, 8, 4}, {3, 5, 4, 4},
                     {.kernel = 3, .stride = 2, .padding = 1, .count_include_pad = false}),
              pooled("stride_larger_than_kernel", {1, 11, 10, 3}, {1, 4, 3, 3},
                     {.kernel = 2, .stride = {3, 4}}),
              pooled(
                  "padding_of_each_side", {1, 5, 6, 3}, {1, 6, 6, 3},
                  {.kernel = 3, .stride = 1, .padding = {2, 1, 0, 2}, .count_include_pad = false}),
              pooled("same", {1, 7, 6, 3}, {1, 4, 3, 3},
                     {.kernel = 3, .stride = 2, .padding = Padding::same()}),
              pooled("last_window_beyond_the_image", {2, 6, 5, 3}, {2, 3, 2, 3},
                     {.kernel = 2, .stride = {2, 3}, .ceil_mode = true}),
              pooled("last_window_beyond_the_padding", {2, 6, 6, 3}, {2, 4, 4, 3},
                     {.kernel = 3, .stride = 2, .padding = 1, .ceil_mode = true}),
              pooled("beyond_without_padding", {2, 6, 6, 3}, {2, 4, 4, 3},
                     {.kernel = 3,
                      .stride = 2,
                      .padding = 1,
                      .count_include_pad = false,
                      .ceil_mode = true}),
              pooled("divisor", {2, 5, 6, 3}, {2, 2, 3, 3}, {.kernel = 2, .divisor = 3}),
              pooled("negative_divisor", {2, 5, 6, 3}, {2, 2, 3, 3}, {.kernel = 2, .divisor = -3}),
              pooled("whole_image", {3, 5, 4, 6}, {3, 1, 1, 6}, {.kernel = {5, 4}}),
              pooled("one_pixel", {1, 1, 1, 2}, {1, 1, 1, 2}, {.kernel = 1}),
              pooled("many_rows", {2, 90, 40, 7}, {2, 45, 20, 7}),
              pooled("empty_batch", {0, 8, 6, 6}, {0, 4, 3, 6}),
          },
      .rejects =
          {
              refused("x_that_is_no_image", {4, 4}, "expected x to be images"),
              refused("a_window_larger_than_the_image", {1, 3, 3, 2}, "does not fit",
                      {.kernel = 4}),
              refused("a_huge_divisor", {1, 3, 3, 2}, "divisor that i32 holds",
                      {.divisor = int64_t{1} << 40}),
              refused("padding_as_wide_as_the_window", {1, 3, 3, 2}, "padding below the size",
                      {.kernel = 2, .padding = 2}),
          },
  };
}

namespace {

TEST(average_pool2d, averages_whole_images) {
  Graph g;
  EXPECT_EQ(to_string(global_average_pool2d(g.input("x", {4, 5, 6})).shape()), "[N, 6]");
  EXPECT_THAT([&] { global_average_pool2d(g.input("v", {4})); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("[N, H, W, C]")));
}

}  // namespace
}  // namespace thimble::test
