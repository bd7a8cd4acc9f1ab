#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>
#include <thimble/initializer.h>

#include <optional>
#include <string>

namespace thimble {

struct Conv2dAttrs {
  Pair stride = 1;
  Padding
      padding;  // zeros around the image: 1, {1, 2}, {top, bottom, left, right}, Padding::same()
  Pair dilation = 1;                         // distance between neighbouring taps of the window
  int64_t groups = 1;                        // divides both numbers of channels
  Activation activation = Activation::none;  // applied to the result
};
void describe(Conv2dAttrs& attrs, ir::FieldVisitor& visitor);

// 2-D convolution (cross-correlation, as usual in deep learning) of images: y[n, p, q, k] = sum
// over r, s, c of x[n, p*stride + r*dilation - padding, ..., c] w[k, r, s, c] + bias[k]. With
// groups, each group of output channels reads its own group of input channels. x: [N, H, W, C],
// weight: [K, kh, kw, C / groups], bias: [K] or none; y: [N, P, Q, K] with P = floor((H + padding -
// dilation * (kh - 1) - 1) / stride) + 1; f32. Errors: Error if sizes do not match.
Value conv2d(Value x, Value weight, Value bias, const Conv2dAttrs& attrs = {});

struct Conv2dOptions {
  int64_t channels = 0;  // number of output channels; must be set
  Pair kernel = 1;
  Pair stride = 1;
  Padding padding;
  Pair dilation = 1;
  int64_t groups = 1;
  bool bias = true;
  Initializer weight_init = init::torch_default();
  std::optional<Initializer> bias_init;  // none: U(-1/sqrt(fan_in), 1/sqrt(fan_in))
  std::string name;                      // of the layer; empty: conv2d_1, conv2d_2, ...
};
void describe(Conv2dOptions& options, ir::OptionVisitor& visitor);

// A convolution layer. Adds the parameters <name>.weight [channels, kh, kw, C / groups] and
// <name>.bias [channels].
Value conv2d(Value x, const Conv2dOptions& options);

}  // namespace thimble
