// Convolutions that the tests of int8_error_grad take gradients of, and inputs of these.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "ops/families/quantized/conv_gradients.h"
#include "ops/families/quantized/quantized_cases.h"

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
  int32_t zero_point = -3;  // of x
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
      {.name = "odd_pixels",
       .x = {3, 3, 5, 12},
       .weight = {13, 1, 1, 12},
       .y = {3, 3, 5, 13},
       .zero_point = 77},
      {.name = "groups_of_two",
       .x = {1, 6, 5, 32},
       .weight = {32, 3, 3, 2},
       .y = {1, 6, 5, 32},
       .padding = 1,
       .groups = 16},
      {.name = "empty_batch", .x = {0, 4, 4, 3}, .weight = {6, 1, 1, 3}, .y = {0, 4, 4, 6}},
  };
}

// Layers whose sums overflow int32 where all products are as large as they can be, and those that
// just do not.
inline std::vector<Layer> long_sums() {
  std::vector<Layer> layers{
      {.name = "512_products", .x = {1, 1, 3, 9}, .weight = {512, 1, 1, 9}, .y = {1, 1, 3, 512}},
      {.name = "513_products", .x = {1, 1, 3, 9}, .weight = {513, 1, 1, 9}, .y = {1, 1, 3, 513}},
      {.name = "519_products", .x = {1, 1, 3, 9}, .weight = {519, 1, 1, 9}, .y = {1, 1, 3, 519}},
      {.name = "1100_products", .x = {1, 1, 3, 9}, .weight = {1100, 1, 1, 9}, .y = {1, 1, 3, 1100}},
      {.name = "540_products_of_windows",
       .x = {1, 3, 3, 5},
       .weight = {60, 3, 3, 5},
       .y = {1, 3, 3, 60},
       .padding = 1},
      {.name = "65536_pixels",
       .x = {1, 256, 256, 4},
       .weight = {3, 1, 1, 4},
       .y = {1, 256, 256, 3}},
      {.name = "65537_pixels",
       .x = {1, 1, 65537, 4},
       .weight = {3, 1, 1, 4},
       .y = {1, 1, 65537, 3}},
      {.name = "66400_pixels",
       .x = {1, 1, 66400, 4},
       .weight = {3, 1, 1, 4},
       .y = {1, 1, 66400, 3}},
      {.name = "67600_windows",
       .x = {1, 262, 262, 1},
       .weight = {2, 3, 3, 1},
       .y = {1, 260, 260, 2}},
      {.name = "long_depthwise_row",
       .x = {1, 1, 66402, 2},
       .weight = {2, 1, 3, 1},
       .y = {1, 1, 66400, 2},
       .groups = 2},
      {.name = "long_depthwise_rows",
       .x = {1, 2, 40001, 3},
       .weight = {3, 1, 2, 1},
       .y = {1, 2, 40000, 3},
       .groups = 3},
      {.name = "depthwise_pictures",
       .x = {17, 64, 64, 3},
       .weight = {3, 1, 1, 1},
       .y = {17, 64, 64, 3},
       .groups = 3},
  };
  for (Layer& l : layers) {
    l.has_bits = false;
    l.zero_point = -128;
  }
  return layers;
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

inline TensorSpec error_spec(const Shape& shape) {
  return {.shape = shape, .dtype = DType::i8, .low = -127.0, .high = 127.0};
}
inline TensorSpec scale_spec() { return {.shape = {}, .low = 0.01, .high = 0.1}; }
inline TensorSpec bits_spec(const Shape& shape) {
  return {.shape = shape, .dtype = DType::boolean};
}
inline TensorSpec none() { return {.absent = true}; }

inline std::vector<OpCase> input_cases(const std::vector<Layer>& of) {
  std::vector<OpCase> cases;
  for (const Layer& l : of) {
    cases.push_back({l.name,
                     {error_spec(l.y),
                      scale_spec(),
                      {.shape = factors_of(l)},
                      weight_spec(l.weight),
                      l.has_bits ? bits_spec(l.y) : none(),
                      l.has_waiting ? error_spec(l.x) : none(),
                      l.has_waiting ? scale_spec() : none()},
                     ir::Attrs::of(input_attrs(l)),
                     {l.x, {}}});
  }
  return cases;
}

inline std::vector<OpCase> weight_cases(const std::vector<Layer>& of) {
  std::vector<OpCase> cases;
  for (const Layer& l : of) {
    cases.push_back({l.name,
                     {int8_spec(l.x, {.scales = {0.1F}, .zero_points = {l.zero_point}}),
                      error_spec(l.y),
                      scale_spec(),
                      {.shape = factors_of(l)},
                      l.has_bits ? bits_spec(l.y) : none()},
                     ir::Attrs::of(weight_attrs(l)),
                     {l.weight}});
  }
  return cases;
}

// Random inputs of a case.
inline std::vector<Tensor> drawn(const OpCase& test, std::mt19937& random) {
  std::vector<Tensor> all;
  for (const TensorSpec& spec : test.inputs) {
    const auto n = static_cast<size_t>(spec.shape.elements());
    if (spec.absent) {
      all.push_back({.absent = true});
    } else if (spec.dtype == DType::boolean) {
      Tensor bits{{DType::boolean, spec.shape}, ir::Bytes((n + 7) / 8)};
      for (std::byte& byte : bits.bytes) {
        byte = static_cast<std::byte>(random() % 3 == 0 ? 255 : random());
      }
      all.push_back(bits);
    } else if (spec.dtype == DType::i8) {
      std::vector<int8_t> numbers = random_int8(spec.shape.elements(), random);
      for (int8_t& v : numbers) v = random() % 4 == 0 ? 0 : std::max<int8_t>(v, -127);
      Tensor made = tensor(DType::i8, spec.shape, numbers);
      if (!spec.quantization.scales.empty()) {
        made = quantized_tensor(DType::i8, spec.shape, numbers, spec.quantization);
      }
      all.push_back(made);
    } else {
      std::uniform_real_distribution<float> uniform(0.01F, 1.0F);
      std::vector<float> numbers(n);
      for (float& v : numbers) v = uniform(random);
      all.push_back(tensor(spec.shape, numbers));
    }
  }
  return all;
}

// The inputs of a case: all numbers of a tensor as large as can be, with products of the same sign.
inline std::vector<Tensor> saturated(const OpCase& test, bool is_negative) {
  std::vector<Tensor> all;
  for (const TensorSpec& spec : test.inputs) {
    const auto n = static_cast<size_t>(spec.shape.elements());
    if (spec.absent) {
      all.push_back({.absent = true});
    } else if (spec.dtype != DType::i8) {
      all.push_back(tensor(spec.shape, std::vector<float>(n, 1.0F)));
    } else if (spec.quantization.scales.empty()) {  // errors
      const std::vector<int8_t> numbers(n, static_cast<int8_t>(is_negative ? -127 : 127));
      all.push_back(tensor(DType::i8, spec.shape, numbers));
    } else {
      const bool is_image = !spec.quantization.zero_points.empty();
      const std::vector<int8_t> numbers(n, static_cast<int8_t>(is_image ? 127 : -128));
      all.push_back(quantized_tensor(DType::i8, spec.shape, numbers, spec.quantization));
    }
  }
  return all;
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
