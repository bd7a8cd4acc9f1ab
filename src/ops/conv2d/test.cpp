#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/families/conv/conv_cases.h"

namespace thimble::test::conv2d_test {
namespace {

OpCase convolution(const char* name, const Shape& x, const Shape& weight, const Shape& y,
                   const Conv2dAttrs& attrs = {}, bool bias = false) {
  return conv_case(name, x, weight, y, attrs, bias);
}

RejectCase refused(const char* name, const Shape& x, const Shape& weight, const char* error,
                   const Conv2dAttrs& attrs = {}) {
  return conv_reject(name, x, weight, error, attrs);
}

}  // namespace

THIMBLE_OP_CASES(conv2d) {
  OpCases own =
      {
          .cases =
              {
                  convolution("one_by_one", {3, 5, 4, 6}, {7, 1, 1, 6}, {3, 5, 4, 7}, {}, kBias),
                  convolution("many_channels_one_by_one", {2, 5, 4, 40}, {53, 1, 1, 40},
                              {2, 5, 4, 53}),
                  convolution("many_channels", {4, 9, 8, 33}, {53, 3, 3, 33}, {4, 9, 8, 53},
                              {.padding = 1}),
                  // Sizes for which Winograd's tiles are chosen, of each kind.
                  convolution("tiles_of_2_by_2", {1, 8, 8, 32}, {32, 3, 3, 32}, {1, 8, 8, 32},
                              {.padding = 1}, kBias),
                  convolution("tiles_of_4_by_4", {1, 12, 12, 16}, {17, 3, 3, 16}, {1, 12, 12, 17},
                              {.padding = 1}),
                  convolution("tiles_of_stride_2", {2, 24, 24, 40}, {40, 3, 3, 40}, {2, 12, 12, 40},
                              {.stride = 2, .padding = 1}),
                  convolution("merged_taps", {4, 9, 8, 19}, {53, 3, 3, 19}, {4, 5, 4, 53},
                              {.stride = 2, .padding = 1}),
                  convolution("one_pixel", {1, 1, 1, 1}, {1, 1, 1, 1}, {1, 1, 1, 1}, {}, kBias),
                  convolution("one_pixel_padded", {3, 1, 1, 2}, {3, 3, 3, 2}, {3, 1, 1, 3},
                              {.padding = 1}),
                  convolution("valid", {3, 7, 9, 3}, {5, 3, 3, 3}, {3, 5, 7, 5}, {}, kBias),
                  convolution("stride_2_padding_1", {3, 9, 7, 4}, {8, 3, 3, 4}, {3, 5, 4, 8},
                              {.stride = 2, .padding = 1}, kBias),
                  convolution("stride_of_each_axis", {1, 9, 8, 2}, {3, 3, 2, 2}, {1, 3, 7, 3},
                              {.stride = {3, 1}}),
                  convolution("stride_larger_than_kernel", {3, 11, 10, 2}, {3, 2, 2, 2},
                              {3, 3, 3, 3}, {.stride = 4}),
                  convolution("padding_of_each_side", {1, 5, 6, 3}, {4, 3, 3, 3}, {1, 6, 6, 4},
                              {.padding = {2, 1, 0, 2}}),
                  convolution("padding_wider_than_kernel", {1, 3, 3, 2}, {2, 2, 2, 2},
                              {1, 10, 10, 2}, {.padding = 4}),
                  convolution("same", {1, 7, 6, 3}, {4, 3, 3, 3}, {1, 7, 6, 4},
                              {.padding = Padding::same()}),
                  convolution("same_even_kernel_stride_2", {1, 7, 6, 3}, {4, 4, 4, 3}, {1, 4, 3, 4},
                              {.stride = 2, .padding = Padding::same()}),
                  convolution("dilation", {3, 9, 11, 2}, {3, 3, 2, 2}, {3, 7, 8, 3},
                              {.padding = 1, .dilation = {2, 5}}, kBias),
                  convolution("groups", {3, 6, 5, 6}, {9, 3, 3, 2}, {3, 6, 5, 9},
                              {.padding = 1, .groups = 3}, kBias),
                  convolution("depthwise", {3, 7, 7, 5}, {5, 3, 3, 1}, {3, 4, 4, 5},
                              {.stride = 2, .padding = 1, .groups = 5}, kBias),
                  convolution("depthwise_of_several_tiles", {2, 6, 21, 37}, {37, 3, 3, 1},
                              {2, 6, 21, 37}, {.padding = 1, .groups = 37}, kBias),
                  convolution("depthwise_stride_2_of_several_tiles", {2, 7, 39, 33}, {33, 3, 3, 1},
                              {2, 4, 20, 33}, {.stride = 2, .padding = 1, .groups = 33}),
                  convolution("depthwise_stride_3", {2, 7, 30, 17}, {17, 3, 3, 1},
                              {2, 3, 10, 17}, {.stride = 3, .padding = 1, .groups = 17}),
                  convolution("depthwise_dilation", {1, 8, 20, 18}, {18, 3, 3, 1},
                              {1, 8, 20, 18}, {.padding = 2, .dilation = 2, .groups = 18}, kBias),
                  convolution("depthwise_kernel_5", {1, 7, 20, 17}, {17, 5, 5, 1},
                              {1, 7, 20, 17}, {.padding = 2, .groups = 17}),
                  convolution("depthwise_kernel_2_by_7", {2, 5, 20, 17}, {17, 2, 7, 1},
                              {2, 4, 20, 17}, {.padding = {0, 0, 3, 3}, .groups = 17}),
                  convolution("groups_of_an_image_smaller_than_the_stride", {2, 1, 2, 6},
                              {2, 3, 3, 3}, {2, 1, 1, 2},
                              {.stride = {4, 2}, .padding = 1, .groups = 2}),
                  convolution("depthwise_multiplier_2", {1, 5, 6, 4}, {8, 3, 3, 1}, {1, 5, 6, 8},
                              {.padding = 1, .groups = 4}),
                  convolution("kernel_of_whole_image", {3, 5, 4, 3}, {6, 5, 4, 3}, {3, 1, 1, 6}),
                  convolution("first_layer_of_the_vae", {2, 28, 28, 1}, {4, 3, 3, 1},
                              {2, 14, 14, 4}, {.stride = 2, .padding = 1}),
                  convolution("empty_batch", {0, 5, 5, 2}, {3, 3, 3, 2}, {0, 3, 3, 3}, {}, kBias),
                  convolution("relu", {3, 6, 6, 3}, {17, 3, 3, 3}, {3, 6, 6, 17},
                              {.padding = 1, .activation = Activation::relu}, kBias),
                  of_large_images(convolution("relu6", {2, 6, 6, 3}, {37, 3, 3, 3}, {2, 6, 6, 37},
                                              {.padding = 1, .activation = Activation::relu6},
                                              kBias)),
                  of_large_images(
                      convolution("relu6_of_few_channels", {2, 9, 9, 3}, {4, 3, 3, 3}, {2, 5, 5, 4},
                                  {.stride = 2, .padding = 1, .activation = Activation::relu6},
                                  kBias)),
                  of_large_images(
                      convolution("relu6_depthwise", {2, 7, 7, 19}, {19, 3, 3, 1}, {2, 7, 7, 19},
                                  {.padding = 1, .groups = 19, .activation = Activation::relu6},
                                  kBias)),
              },
          .rejects =
              {
                  refused("a_weight_for_other_channels", {1, 7, 7, 3}, {5, 3, 3, 4},
                          "expected a weight [output, kh, kw, input / groups] = [5, kh, kw, 3]"),
                  refused("groups_that_do_not_divide", {1, 7, 7, 3}, {4, 3, 3, 1},
                          "groups to divide the 4 output and the 3 input channels", {.groups = 2}),
                  refused("a_window_no_int_can_hold", {1, 7, 7, 3}, {4, 1 << 12, 1, 3},
                          "is too large; dilate less",
                          {.padding = Padding::same(), .dilation = 1 << 20}),
                  refused("a_padded_image_no_int_can_hold", {1, 7, 7, 3}, {4, 1, 1025, 3},
                          "too large together", {.padding = Padding::same(), .dilation = 1 << 20}),
                  refused("a_window_larger_than_the_image", {1, 3, 7, 3}, {4, 5, 5, 3},
                          "covers 5 by 5 does not fit an image of 3 by 7"),
              },
      };
  return with_conv_rejects<Conv2dAttrs>(std::move(own), {2, 3, 3, 2}, {4, 3, 3, 2});
}

namespace {

TEST(conv2d, adds_a_weight_and_a_bias_that_start_as_in_pytorch) {
  Graph g;
  const Value x = g.input("x", {8, 8, 4});
  const Value y = conv2d(x, {.channels = 6, .kernel = {2, 4}, .groups = 2});
  EXPECT_EQ(to_string(y.shape()), "[N, 7, 5, 6]");
  const ir::ValueData& weight = g.ir().data(g.ir().find_source("conv2d_1.weight").id());
  const ir::ValueData& bias = g.ir().data(g.ir().find_source("conv2d_1.bias").id());
  EXPECT_EQ(weight.type.shape, (Shape{6, 2, 4, 2}));
  EXPECT_EQ(weight.init, init::torch_default());
  EXPECT_EQ(bias.init, init::uniform(-0.25, 0.25));
}

TEST(conv2d, says_which_option_is_missing_or_wrong) {
  Graph g;
  const Value x = g.input("x", {8, 8, 4});
  const auto says = [](const char* text) {
    return testing::ThrowsMessage<Error>(testing::HasSubstr(text));
  };
  EXPECT_THAT([&] { conv2d(x, {.kernel = 3}); }, says("set .channels"));
  EXPECT_THAT([&] { conv2d(x, {.channels = 4, .kernel = 0}); }, says("set .kernel"));
  EXPECT_THAT([&] { conv2d(x, {.channels = 4, .groups = 3}); }, says("got 3 groups"));
  EXPECT_THAT([&] { conv2d(g.input("v", {8}), {.channels = 4}); }, says("[N, H, W, C]"));
}

}  // namespace
}  // namespace thimble::test::conv2d_test
