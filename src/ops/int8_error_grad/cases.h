// Convolutions that the tests of int8_error_grad take gradients of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ops/families/quantized/conv_gradients.h"

namespace thimble::test::int8_error_grad_test {

// A convolution whose gradients are taken.
struct Layer {
  const char* name;
  Shape x;
  Shape weight;
  Shape y;
  int64_t stride = 1;
  Padding padding = 0;
  int64_t dilation = 1;
  int64_t groups = 1;
  bool has_bits = true;
  bool has_waiting = false;
  bool one_factor = false;
};

inline std::vector<Layer> layers() {
  return {
      {.name = "pixels", .x = {2, 5, 4, 70}, .weight = {67, 1, 1, 70}, .y = {2, 5, 4, 67}},
      {.name = "pixels_and_waiting",
       .x = {1, 4, 4, 24},
       .weight = {130, 1, 1, 24},
       .y = {1, 4, 4, 130},
       .has_waiting = true},
      {.name = "windows",
       .x = {2, 9, 7, 5},
       .weight = {12, 3, 3, 5},
       .y = {2, 5, 4, 12},
       .stride = 2,
       .padding = 1,
       .has_bits = false},
      {.name = "groups",
       .x = {1, 6, 5, 6},
       .weight = {9, 3, 3, 2},
       .y = {1, 6, 5, 9},
       .padding = 1,
       .groups = 3,
       .has_waiting = true,
       .one_factor = true},
      {.name = "depthwise",
       .x = {2, 6, 8, 83},
       .weight = {83, 5, 5, 1},
       .y = {2, 6, 8, 83},
       .padding = 2,
       .groups = 83,
       .has_waiting = true},
      {.name = "depthwise_stride_2",
       .x = {1, 8, 8, 10},
       .weight = {10, 3, 3, 1},
       .y = {1, 4, 4, 10},
       .stride = 2,
       .padding = 1,
       .groups = 10},
      {.name = "several_of_a_channel",
       .x = {1, 4, 4, 3},
       .weight = {6, 3, 3, 1},
       .y = {1, 4, 4, 6},
       .padding = 1,
       .groups = 3},
      {.name = "many_products",
       .x = {1, 5, 6, 40},
       .weight = {150, 3, 3, 40},
       .y = {1, 5, 6, 150},
       .padding = 1,
       .has_waiting = true},
      {.name = "many_channels", .x = {1, 1, 3, 9}, .weight = {1100, 1, 1, 9}, .y = {1, 1, 3, 1100}},
      {.name = "dilated",
       .x = {1, 9, 8, 4},
       .weight = {7, 3, 3, 4},
       .y = {1, 4, 3, 7},
       .stride = 2,
       .padding = 1,
       .dilation = 2},
      {.name = "dilated_depthwise",
       .x = {1, 9, 8, 35},
       .weight = {35, 3, 3, 1},
       .y = {1, 9, 8, 35},
       .padding = 2,
       .dilation = 2,
       .groups = 35},
      {.name = "depthwise_stride_2_dilated",
       .x = {1, 12, 11, 5},
       .weight = {5, 4, 4, 1},
       .y = {1, 6, 6, 5},
       .stride = 2,
       .padding = 3,
       .dilation = 2,
       .groups = 5},
      {.name = "several_pictures",
       .x = {3, 20, 20, 3},
       .weight = {20, 5, 5, 3},
       .y = {3, 8, 8, 20},
       .stride = 2},
      {.name = "groups_of_two",
       .x = {1, 6, 5, 32},
       .weight = {32, 3, 3, 2},
       .y = {1, 6, 5, 32},
       .padding = 1,
       .groups = 16},
      {.name = "empty_batch", .x = {0, 4, 4, 3}, .weight = {6, 1, 1, 3}, .y = {0, 4, 4, 6}},
  };
}

inline Shape factors_of(const Layer& layer) { return {layer.one_factor ? 1 : layer.y[3]}; }

inline Conv2dInputGradAttrs input_attrs(const Layer& l) {
  return {.size = {l.x[1], l.x[2]},
          .stride = l.stride,
          .padding = l.padding,
          .dilation = l.dilation,
          .groups = l.groups};
}

inline Conv2dWeightGradAttrs weight_attrs(const Layer& l) {
  return {.kernel = {l.weight[1], l.weight[2]},
          .stride = l.stride,
          .padding = l.padding,
          .dilation = l.dilation,
          .groups = l.groups};
}

// Calls product(e, x, w) with the places of an error, an input and a weight that belong together.
template <class Product>
void for_each_product(const Layer& l, const Product& product) {
  const int64_t group_c = l.x[3] / l.groups;
  const int64_t group_k = l.y[3] / l.groups;
  const int64_t pad = l.padding.top;
  const int64_t taps = l.weight[1] * l.weight[2];
  for (int64_t pixel = 0; pixel < l.y[0] * l.y[1] * l.y[2]; ++pixel) {
    const int64_t row = pixel / l.y[2];
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t h = row % l.y[1] * l.stride - pad + tap / l.weight[2] * l.dilation;
      const int64_t column = pixel % l.y[2] * l.stride - pad + tap % l.weight[2] * l.dilation;
      if (h < 0 || h >= l.x[1] || column < 0 || column >= l.x[2]) continue;
      const int64_t from = ((row / l.y[1] * l.x[1] + h) * l.x[2] + column) * l.x[3];
      for (int64_t k = 0; k < l.y[3]; ++k) {
        for (int64_t c = 0; c < group_c; ++c) {
          product(static_cast<size_t>(pixel * l.y[3] + k),
                  static_cast<size_t>(from + k / group_k * group_c + c),
                  static_cast<size_t>((k * taps + tap) * group_c + c));
        }
      }
    }
  }
}

}  // namespace thimble::test::int8_error_grad_test
