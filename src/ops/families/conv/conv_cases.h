// Test cases of convolutions and their transposes.
#pragma once

#include "harness/op_cases.h"

namespace thimble::test {

// Rounding of sums of up to some hundred products, relative to the largest result.
inline constexpr double kConvTolerance = 2e-5;
inline constexpr bool kBias = true;

// x, weight and y: shapes. bias: with one value a channel of y.
template <class Attrs>
OpCase conv_case(const char* name, const Shape& x, const Shape& weight, const Shape& y,
                 const Attrs& attrs, bool bias) {
  OpCase made{.name = name,
              .inputs = {{.shape = x}, {.shape = weight}},
              .attrs = ir::Attrs::of(attrs),
              .expect = {y},
              .tolerance = kConvTolerance};
  if (bias) made.inputs.push_back({.shape = {y[3]}});
  return made;
}

// Images so large that every piece of a fused activation occurs.
inline OpCase of_large_images(OpCase test) {
  test.inputs[0].low = -4.0;
  test.inputs[0].high = 4.0;
  return test;
}

template <class Attrs>
RejectCase conv_reject(const char* name, const Shape& x, const Shape& weight, const char* error,
                       const Attrs& attrs) {
  return {name, {{.shape = x}, {.shape = weight}}, ir::Attrs::of(attrs), error};
}

// Adds inputs that each of these ops refuses. two, four: weights of windows of 3 by 3 for images of
// 2 channels and results of 2 and of 4.
template <class Attrs>
OpCases with_conv_rejects(OpCases own, const Shape& two, const Shape& four) {
  const Shape x{1, 4, 4, 2};
  const auto add = [&](const char* name, const char* error, const Attrs& attrs) {
    own.rejects.push_back(conv_reject(name, x, two, error, attrs));
  };
  add("no_stride", "stride of at least 1", {.stride = 0});
  add("a_stride_no_int_can_hold", "at most", {.stride = int64_t{1} << 33});
  add("no_dilation", "dilation of at least 1", {.dilation = {1, 0}});
  add("no_groups", "at least one group", {.groups = 0});
  add("negative_padding", "padding of at least 0", {.padding = -1});
  own.rejects.push_back(
      conv_reject("x_that_is_no_image", {3, 7}, two, "expected x to be images", Attrs{}));
  own.rejects.push_back(conv_reject("a_weight_of_three_dimensions", x, {2, 3, 3},
                                    "expected weight of 4 dimensions", Attrs{}));
  own.rejects.push_back({"a_bias_of_another_size",
                         {{.shape = x}, {.shape = four}, {.shape = {3}}},
                         ir::Attrs::of(Attrs{}),
                         "expected a bias [4]"});
  return own;
}

}  // namespace thimble::test
