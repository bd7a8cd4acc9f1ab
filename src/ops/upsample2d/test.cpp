#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/op_cases.h"
#include "harness/op_run.h"
#include "ops/families/quantized/quantized_cases.h"

namespace thimble::test::upsample2d_test {
namespace {

OpCase resized(const char* name, const Shape& x, const Shape& y, const Upsample2dOptions& options) {
  return {.name = name, .inputs = {{.shape = x}}, .attrs = ir::Attrs::of(options), .expect = {y}};
}

}  // namespace

THIMBLE_OP_CASES(upsample2d) {
  constexpr auto kBilinear = Upsampling::bilinear;
  const auto refused = [](const char* name, const Shape& x, const char* error,
                          const Upsample2dOptions& options) {
    return RejectCase{name, {{.shape = x}}, ir::Attrs::of(options), error};
  };
  return {
      .cases =
          {
              resized("nearest", {3, 4, 5, 3}, {3, 8, 10, 3}, {.scale = 2}),
              resized("nearest_many_channels", {2, 4, 5, 35}, {2, 12, 15, 35}, {.scale = 3}),
              resized("nearest_smaller", {2, 7, 9, 4}, {2, 3, 4, 4}, {.size = {3, 4}}),
              resized("nearest_exact", {2, 4, 5, 3}, {2, 7, 9, 3},
                      {.size = {7, 9}, .mode = Upsampling::nearest_exact}),
              resized("bilinear", {3, 4, 5, 3}, {3, 8, 10, 3}, {.scale = 2, .mode = kBilinear}),
              resized("bilinear_many_channels", {2, 4, 5, 35}, {2, 12, 10, 35},
                      {.scale = 3, .scale_w = 2, .mode = kBilinear}),
              resized("bilinear_fraction", {2, 6, 5, 4}, {2, 10, 8, 4},
                      {.scale = 1.7, .mode = kBilinear}),
              resized("bilinear_smaller", {2, 9, 7, 17}, {2, 3, 2, 17},
                      {.size = {3, 2}, .mode = kBilinear}),
              resized("bilinear_corners", {2, 4, 5, 3}, {2, 9, 13, 3},
                      {.size = {9, 13}, .mode = kBilinear, .align_corners = true}),
              resized("bicubic", {3, 4, 5, 3}, {3, 8, 10, 3},
                      {.scale = 2, .mode = Upsampling::bicubic}),
              resized("bicubic_smaller", {2, 9, 7, 17}, {2, 3, 2, 17},
                      {.size = {3, 2}, .mode = Upsampling::bicubic}),
              resized("bicubic_corners", {2, 4, 5, 3}, {2, 9, 13, 3},
                      {.size = {9, 13}, .mode = Upsampling::bicubic, .align_corners = true}),
              resized("bicubic_of_one_pixel", {2, 1, 1, 3}, {2, 3, 4, 3},
                      {.size = {3, 4}, .mode = Upsampling::bicubic}),
              resized("one_pixel", {2, 1, 1, 3}, {2, 3, 4, 3}, {.size = {3, 4}, .mode = kBilinear}),
              resized("same_size", {2, 3, 4, 3}, {2, 3, 4, 3}, {.scale = 1, .mode = kBilinear}),
              resized("many_rows", {2, 40, 50, 6}, {2, 80, 100, 6},
                      {.scale = 2, .mode = kBilinear}),
              resized("empty_batch", {0, 4, 5, 3}, {0, 8, 10, 3}, {.scale = 2}),
              resized("no_channels", {2, 4, 5, 0}, {2, 8, 10, 0}, {.scale = 2, .mode = kBilinear}),
          },
      .rejects =
          {
              refused("neither_size_nor_scale", {1, 4, 4, 3}, "a size or a scale", {}),
              refused("a_height_alone", {1, 4, 4, 3}, "a size or a scale", {.size = {3, 0}}),
              refused("empty_images", {1, 0, 4, 3}, "at least 1 by 1", {.scale = 2}),
              refused("a_scale_that_leaves_nothing", {1, 4, 4, 3}, "leaves nothing",
                      {.scale = 0.1}),
              refused("a_scale_too_large", {1, 4, 4, 3}, "at most 2^24", {.scale = 1e30}),
              refused("a_negative_scale", {1, 4, 4, 3}, "not negative", {.scale = -1}),
              refused("sequences", {1, 4, 3}, "expected x to be images", {.scale = 2}),
          },
  };
}

namespace {

TEST(upsample1d, stretches_sequences) {
  Graph g;
  const Value x = g.input("x", {6, 3});
  EXPECT_EQ(to_string(upsample1d(x, {.scale = 2.5}).shape()), "[N, 15, 3]");
  EXPECT_THAT(
      [&] {
        upsample1d(g.input("image", {6, 6, 3}), {.scale = 2});
      },
      testing::ThrowsMessage<Error>(testing::HasSubstr("sequences [N, L, C]")));
}

TEST(upsample3d, stretches_volumes) {
  Graph g;
  const Value x = g.input("x", {4, 3, 2, 5});
  EXPECT_EQ(to_string(upsample3d(x, {.scale = 2.5}).shape()), "[N, 10, 7, 5, 5]");
  EXPECT_EQ(to_string(upsample3d(x, {.size = {2, 6, 3}}).shape()), "[N, 2, 6, 3, 5]");
  Graph of_constants;
  const Value line = of_constants.constant("line", {1, 2, 1, 1, 1}, {0, 4});
  EXPECT_EQ(evaluate(upsample3d(line, {.size = {4, 1, 1}, .mode = Upsampling::bilinear})),
            (std::vector<float>{0, 1, 3, 4}));
  const auto refused = [&](Value value, const Upsample3dOptions& options, const char* message) {
    EXPECT_THAT([&] { upsample3d(value, options); },
                testing::ThrowsMessage<Error>(testing::HasSubstr(message)));
  };
  refused(g.input("image", {6, 6, 3}), {.scale = 2}, "[N, D, H, W, C]");
  refused(x, {.scale = 2, .mode = Upsampling::bicubic}, "nearest, nearest_exact or bilinear");
  refused(x, {.size = {1, 2}}, "[upsample3d]");
  refused(x, {}, "[upsample3d]");
  refused(x, {}, "a size or a scale");
}

TEST(upsample2d, moves_quantized_pixels) {
  const Quantization q{.scales = {0.5F}, .zero_points = {-3}};
  const Tensor x = quantized_tensor<int8_t>(DType::i8, {1, 1, 2, 2}, {7, -128, 3, 127}, q);
  const auto y =
      run_op("upsample2d", ir::Attrs::of(Upsample2dOptions{.scale = 2}), {x}, Kernel::fast)[0];
  EXPECT_EQ(values_of<int8_t>(y), (std::vector<int8_t>{7, -128, 7, -128, 3, 127, 3, 127,  //
                                                       7, -128, 7, -128, 3, 127, 3, 127}));
  Graph g;
  const Value image = g.input("x", {4, 4, 3}, DType::i8, q);
  EXPECT_EQ(*upsample2d(image, {.scale = 2}).quantization(), q);
  const Value plain = g.input("plain", {4, 4, 3}, DType::i8);
  EXPECT_THAT([&] { upsample2d(plain, {.scale = 2, .mode = Upsampling::bilinear}); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("resized by nearest")));
  EXPECT_THAT([&] { upsample2d(image, {.scale = 2, .mode = Upsampling::bicubic}); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("resized by nearest")));
  EXPECT_THAT([&] { upsample2d(image, {.scale = 1.3, .mode = Upsampling::bilinear}); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("without a scale")));
  EXPECT_EQ(*upsample2d(image, {.scale = 2, .mode = Upsampling::bilinear}).quantization(), q);
}

TEST(upsample2d, lies_between_quantized_pixels) {
  std::mt19937 random(9);
  const Quantization q{.scales = {0.5F}, .zero_points = {-3}};
  for (const bool corners : {false, true}) {
    for (const Pair to : {Pair(8, 10), Pair(7, 3), Pair(1, 23)}) {
      const Upsample2dOptions options{
          .size = to, .mode = Upsampling::bilinear, .align_corners = corners};
      const std::vector<int8_t> x = random_int8(4 * 5 * 3, random);
      const auto y = values_of<int8_t>(run_op("upsample2d", ir::Attrs::of(options),
                                              {quantized_tensor(DType::i8, {1, 4, 5, 3}, x, q)},
                                              Kernel::fast)[0]);
      const auto wanted = values_of<float>(
          run_op("upsample2d", ir::Attrs::of(options),
                 {tensor({1, 4, 5, 3}, std::vector<float>(x.begin(), x.end()))}, Kernel::fast)[0]);
      ASSERT_EQ(y.size(), wanted.size());
      // Places are whole numbers of 1/1024 of a cell, whose errors add up along a side: at most
      // 1/2048 a pixel, times the largest difference of 255, on both sides; and the rounding.
      const double tolerance = 0.5 + 255.0 / 2048.0 * static_cast<double>(to.h + to.w + 2);
      for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], wanted[i], tolerance);
    }
  }
}

}  // namespace
}  // namespace thimble::test::upsample2d_test
