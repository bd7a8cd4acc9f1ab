// The shapes that the tests of the convolution kernels run through.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "simd/conv_dims.h"

namespace thimble::testing {

struct ConvCase {
  const char* name;
  int n, h, w, c, k, r, s;
  int stride_h, stride_w;
  int top, bottom, left, right;
  int dilation_h, dilation_w;
  int groups;
};

inline conv_dims to_dims(const ConvCase& t) {
  conv_dims d{};
  d.n = t.n, d.h = t.h, d.w = t.w, d.c = t.c, d.k = t.k, d.r = t.r, d.s = t.s;
  d.p = (t.h + t.top + t.bottom - t.dilation_h * (t.r - 1) - 1) / t.stride_h + 1;
  d.q = (t.w + t.left + t.right - t.dilation_w * (t.s - 1) - 1) / t.stride_w + 1;
  d.stride_h = t.stride_h, d.stride_w = t.stride_w;
  d.pad_top = t.top, d.pad_left = t.left;
  d.dilation_h = t.dilation_h, d.dilation_w = t.dilation_w;
  d.groups = t.groups;
  return d;
}

inline const ConvCase kConvCases[] = {
    // name, n, h, w, c, k, r, s, strides, padding (top, bottom, left, right), dilations, groups
    {"one_pixel", 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1},
    {"vae_encoder_1", 3, 28, 28, 1, 4, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1},
    {"vae_encoder_2", 9, 14, 14, 4, 8, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1},
    {"vae_decoder_1", 9, 14, 14, 4, 8, 4, 4, 2, 2, 1, 1, 1, 1, 1, 1, 1},
    {"vae_decoder_2", 3, 28, 28, 1, 4, 4, 4, 2, 2, 1, 1, 1, 1, 1, 1, 1},
    {"lenet_1", 2, 28, 28, 1, 6, 5, 5, 1, 1, 2, 2, 2, 2, 1, 1, 1},
    {"lenet_2", 3, 14, 14, 6, 16, 5, 5, 1, 1, 0, 0, 0, 0, 1, 1, 1},
    {"scatter_dilated", 2, 13, 17, 5, 9, 4, 5, 1, 1, 1, 0, 2, -1, 2, 1, 1},
    {"scatter_taps_apart", 3, 12, 15, 7, 12, 3, 4, 1, 1, -1, 1, 0, 1, 1, 2, 1},
    {"scatter_few_rows", 1, 6, 40, 11, 40, 3, 9, 1, 1, 0, 0, 0, 0, 1, 1, 1},
    {"rgb_first_layer", 2, 17, 19, 3, 32, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1},
    {"to_three_channels", 1, 13, 11, 40, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {"same_64", 1, 9, 10, 64, 64, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {"large_k", 1, 5, 6, 20, 150, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {"deep", 3, 4, 4, 300, 70, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {"deep_odd_channels", 2, 4, 5, 340, 100, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {"odd_channels", 2, 7, 9, 5, 7, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {"ten_to_twelve", 2, 8, 7, 10, 12, 3, 2, 1, 2, 1, 0, 0, 1, 1, 1, 1},
    {"stride_exceeds_kernel", 3, 11, 13, 3, 5, 2, 2, 3, 4, 0, 0, 0, 0, 1, 1, 1},
    {"stride_exceeds_kernel_wide", 1, 11, 13, 18, 20, 1, 2, 3, 3, 1, 0, 0, 1, 1, 1, 1},
    {"asymmetric_padding", 2, 8, 9, 4, 6, 3, 3, 1, 1, 2, 0, 0, 1, 1, 1, 1},
    {"asymmetric_padding_wide", 2, 8, 9, 20, 24, 3, 3, 2, 2, 2, 0, 1, 2, 1, 1, 1},
    {"padding_exceeds_kernel", 1, 4, 4, 2, 3, 2, 2, 1, 1, 3, 3, 3, 3, 1, 1, 1},
    {"cropped", 1, 9, 9, 3, 4, 3, 3, 1, 1, -1, -2, -1, 0, 1, 1, 1},
    {"dilated", 1, 12, 13, 4, 5, 3, 3, 1, 1, 2, 2, 2, 2, 2, 2, 1},
    {"dilated_strided", 2, 13, 14, 17, 33, 3, 2, 2, 3, 1, 2, 2, 1, 3, 2, 1},
    {"dilated_strided_narrow", 2, 13, 14, 3, 2, 3, 2, 2, 3, 1, 2, 2, 1, 3, 2, 1},
    {"pointwise", 3, 5, 7, 24, 96, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1},
    {"pointwise_narrow", 3, 5, 7, 9, 4, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1},
    {"pointwise_in_strips", 3, 23, 31, 16, 8, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1},
    {"pointwise_narrow_in_strips", 2, 70, 61, 3, 2, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1},
    {"row_in_strips", 2, 1, 9000, 8, 4, 1, 5, 1, 1, 0, 0, 3, 1, 1, 1, 1},
    {"row_in_strips_strided", 1, 1, 12001, 3, 4, 1, 5, 1, 2, 0, 0, 1, 2, 1, 1, 1},
    {"row_in_strips_groups", 1, 2, 7000, 12, 6, 2, 3, 1, 2, 1, 0, 2, 2, 1, 2, 2},
    {"pointwise_strided", 1, 6, 7, 16, 18, 1, 1, 2, 2, 0, 0, 0, 0, 1, 1, 1},
    {"groups", 2, 6, 7, 8, 12, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 4},
    {"groups_wide", 1, 6, 7, 40, 66, 3, 3, 2, 1, 1, 1, 1, 1, 1, 1, 2},
    {"depthwise", 2, 9, 8, 13, 13, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 13},
    {"depthwise_wide", 1, 10, 11, 96, 96, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 96},
    {"depthwise_strided", 3, 9, 8, 70, 70, 3, 3, 2, 2, 1, 0, 1, 1, 1, 1, 70},
    {"depthwise_large_dilated", 1, 12, 11, 20, 20, 5, 4, 2, 1, 3, 3, 2, 4, 2, 2, 20},
    {"depthwise_stride_exceeds_kernel", 1, 9, 9, 33, 33, 2, 2, 3, 3, 0, 0, 0, 0, 1, 1, 33},
    {"depthwise_multiplier", 2, 6, 7, 5, 15, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 5},
    {"tall_window", 1, 20, 3, 2, 4, 7, 1, 1, 1, 3, 3, 0, 0, 1, 1, 1},
    {"large_image_narrow", 1, 70, 90, 3, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {"large_image_16", 1, 60, 60, 16, 16, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {"winograd_odd_size", 2, 9, 11, 40, 36, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {"winograd_no_padding", 1, 16, 13, 20, 33, 3, 3, 1, 1, 0, 0, 0, 0, 1, 1, 1},
    {"winograd_wide_padding", 1, 14, 12, 33, 20, 3, 3, 1, 1, 2, 2, 2, 2, 1, 1, 1},
    {"winograd_asymmetric", 1, 12, 13, 17, 32, 3, 3, 1, 1, 2, 0, 0, 1, 1, 1, 1},
    {"winograd_cropped", 1, 18, 18, 32, 16, 3, 3, 1, 1, -1, -2, -1, 0, 1, 1, 1},
    {"winograd_channel_blocks", 1, 16, 14, 70, 130, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {"winograd_16_channels", 1, 20, 17, 16, 16, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {"winograd_many_channels", 2, 8, 8, 150, 300, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {"winograd_many_tiles", 2, 50, 47, 20, 40, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {"winograd_2x2_of_two_by_two", 40, 2, 2, 40, 72, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {"winograd_2x2_two_rows", 4, 2, 30, 33, 40, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {"winograd_partial_sums", 2, 30, 29, 16, 32, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {"winograd_strided", 4, 16, 16, 64, 70, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1},
    {"winograd_strided_odd_size", 3, 31, 29, 96, 64, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1},
    {"winograd_strided_channel_blocks", 1, 32, 30, 72, 140, 3, 3, 2, 2, 1, 0, 1, 0, 1, 1, 1},
    {"winograd_strided_many_channels", 16, 8, 8, 200, 330, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1},
    {"winograd_strided_cropped", 2, 32, 32, 64, 64, 3, 3, 2, 2, -1, 0, -1, 1, 1, 1, 1},
    {"winograd_strided_wide_padding", 2, 32, 31, 64, 80, 3, 3, 2, 2, 3, -1, 3, 0, 1, 1, 1},
    {"winograd_strided_partial_sums", 6, 60, 62, 64, 64, 3, 3, 2, 2, 1, 0, 1, 0, 1, 1, 1},
    {"winograd_strided_even_padding", 2, 17, 31, 64, 64, 3, 3, 2, 2, 0, 0, 2, 0, 1, 1, 1},
    {"winograd_long_sums", 3, 32, 32, 130, 64, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1},
    {"empty_batch", 0, 5, 5, 3, 4, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1},
};

}  // namespace thimble::testing
