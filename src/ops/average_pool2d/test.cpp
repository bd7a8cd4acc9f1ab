#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/families/pool/pool_cases.h"

namespace thimble::test::average_pool2d_test {
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
  const OpCases own{
      .cases =
          {
              pooled("padding_that_does_not_count", {3, 9, 8, 4}, {3, 5, 4, 4},
                     {.kernel = 3, .stride = 2, .padding = 1, .count_include_pad = false}),
              pooled(
                  "padding_of_each_side_that_does_not_count", {1, 5, 6, 3}, {1, 6, 6, 3},
                  {.kernel = 3, .stride = 1, .padding = {2, 1, 0, 2}, .count_include_pad = false}),
              pooled("beyond_without_padding", {2, 6, 6, 3}, {2, 4, 4, 3},
                     {.kernel = 3,
                      .stride = 2,
                      .padding = 1,
                      .count_include_pad = false,
                      .ceil_mode = true}),
              pooled("divisor", {2, 5, 6, 3}, {2, 2, 3, 3}, {.kernel = 2, .divisor = 3}),
              pooled("negative_divisor", {2, 5, 6, 3}, {2, 2, 3, 3}, {.kernel = 2, .divisor = -3}),
              pooled("whole_image", {3, 5, 4, 6}, {3, 1, 1, 6}, {.kernel = {5, 4}}),
          },
      .rejects =
          {
              refused("a_huge_divisor", {1, 3, 3, 2}, "divisor that i32 holds",
                      {.divisor = int64_t{1} << 40}),
          },
  };
  return pool_cases<AveragePool2dAttrs>(pooled, refused) + own;
}

namespace {

TEST(average_pool2d, averages_whole_images) {
  Graph g;
  EXPECT_EQ(to_string(global_average_pool2d(g.input("x", {4, 5, 6})).shape()), "[N, 6]");
  EXPECT_THAT([&] { global_average_pool2d(g.input("v", {4})); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("[N, H, W, C]")));
}

}  // namespace
}  // namespace thimble::test::average_pool2d_test
