#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ops/common/pool_cases.h"
#include "ops/max_pool2d/attrs.h"
#include "ops/max_pool2d/simd.h"
#include "passes/passes.h"

namespace thimble::test {
namespace {

OpCase pooled(const char* name, const Shape& x, const Shape& y, const MaxPool2dAttrs& attrs = {}) {
  return {.name = name,
          .inputs = {{.shape = x, .distinct = true}},
          .attrs = ir::Attrs::of(attrs),
          .expect = {y, y}};
}

RejectCase refused(const char* name, const Shape& x, const char* error,
                   const MaxPool2dAttrs& attrs = {}) {
  return {name, {{.shape = x}}, ir::Attrs::of(attrs), error};
}

}  // namespace

THIMBLE_OP_CASES(max_pool2d) {
  const OpCases own{
      .cases =
          {
              pooled("overlapping", {3, 9, 8, 4}, {3, 4, 3, 4}, {.kernel = 3, .stride = 2}),
              pooled("window_of_each_axis", {1, 7, 6, 3}, {1, 7, 2, 3}, {.kernel = {1, 3}}),
              pooled("dilated", {2, 9, 8, 3}, {2, 5, 2, 3},
                     {.kernel = 3, .stride = {1, 2}, .dilation = 2}),
              pooled("dilated_padded", {2, 7, 6, 3}, {2, 3, 3, 3},
                     {.kernel = {2, 3},
                      .stride = {3, 2},
                      .padding = 1,
                      .dilation = {3, 2},
                      .ceil_mode = true}),
              pooled("window_beyond_the_image", {2, 2, 3, 2}, {2, 1, 1, 2},
                     {.kernel = {3, 4}, .stride = 2, .ceil_mode = true}),
              pooled("window_of_255_cells", {1, 15, 17, 2}, {1, 1, 1, 2}, {.kernel = {15, 17}}),
              pooled("window_of_more_than_255_cells", {1, 18, 19, 17}, {1, 2, 2, 17},
                     {.kernel = 16, .stride = {2, 3}}),
          },
      .rejects =
          {
              refused("windows_in_the_padding", {1, 1, 3, 2}, "hold a cell",
                      {.kernel = 2, .stride = 1, .padding = 1, .dilation = 2}),
              refused("no_window", {1, 3, 3, 2}, "a window of at least 1 by 1", {.kernel = 0}),
              refused("a_negative_stride", {1, 3, 3, 2}, "stride of at least 1", {.stride = -1}),
          },
  };
  return pool_cases<MaxPool2dAttrs>(pooled, refused) + own;
}

THIMBLE_OP_CASES(max_pool2d_inference) {
  const auto pooled = [](const char* name, const Shape& x, const Shape& y,
                         const MaxPool2dAttrs& attrs = {}) {
    return OpCase{.name = name,
                  .inputs = {{.shape = x, .distinct = true}},
                  .attrs = ir::Attrs::of(attrs),
                  .expect = {y}};
  };
  return {.cases = {pooled("halves", {3, 8, 6, 6}, {3, 4, 3, 6}),
                    pooled("overlapping_padded", {3, 9, 8, 4}, {3, 5, 4, 4},
                           {.kernel = 3, .stride = 2, .padding = 1})}};
}

THIMBLE_OP_CASES(max_pool2d_cells) {
  const auto of = [](const char* name, const Shape& shape, DType dtype, double cells,
                     const MaxPool2dGradAttrs& attrs) {
    return OpCase{.name = name,
                  .inputs = {{.shape = shape, .dtype = dtype, .low = 0, .high = cells - 1}},
                  .attrs = ir::Attrs::of(attrs),
                  .expect = {shape}};
  };
  return {.cases = {of("halves", {2, 3, 2, 4}, DType::u8, 4, {.size = {6, 4}}),
                    of("dilated", {2, 4, 2, 3}, DType::u8, 6,
                       {.size = {8, 9}, .kernel = {2, 3}, .stride = 2, .dilation = 2}),
                    of("wide", {1, 1, 2, 3}, DType::i32, 256,
                       {.size = {16, 18}, .kernel = 16, .stride = 2})},
          .rejects = {{"wide_places",
                       {{.shape = {1, 1, 1, 1}, .dtype = DType::i32}},
                       ir::Attrs::of(MaxPool2dGradAttrs{.size = {2, 2}}),
                       "of type u8"}}};
}

namespace {

TEST(max_pool2d, keeps_one_byte_an_output_for_training_and_none_at_inference) {
  Graph g;
  g.output("y", max_pool2d(g.input("x", {4, 4, 6})));
  EXPECT_EQ(g.ir().type(g.ir().nodes[0].outputs[1]).dtype, DType::u8);
  const ir::Graph graph = passes::specialize(g.ir(), ir::Phase::inference);
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(graph.nodes[0].outputs.size(), 1U);
}

// A value gone bad must not vanish in a pool: it has to reach the loss to be seen.
TEST(max_pool2d, passes_nan_on) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  pool_dims d{};
  d.n = d.p = d.q = d.stride_h = d.stride_w = d.dilation_h = d.dilation_w = 1;
  d.h = d.w = d.r = d.s = 2;
  d.c = 3;
  const std::vector<float> x = {kNan, 1, 1, 2, kNan, 2, 3, 3, 3, 4, 4, 4};
  std::vector<float> y(3);
  std::vector<uint8_t> index(3);
  exec::ThreadPool pool(1);
  ops::max_pool2d_simd(y.data(), index.data(), x.data(), &d, pool);
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
  EXPECT_EQ(y[2], 4.0F);
  EXPECT_EQ(index, (std::vector<uint8_t>{0, 1, 3}));
}

TEST(max_pool2d, pools_whole_images) {
  Graph g;
  EXPECT_EQ(to_string(global_max_pool2d(g.input("x", {4, 5, 6})).shape()), "[N, 6]");
  EXPECT_THAT([&] { global_max_pool2d(g.input("v", {4})); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("[N, H, W, C]")));
}

}  // namespace
}  // namespace thimble::test
