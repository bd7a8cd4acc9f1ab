#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>
#include <thimble/initializer.h>

#include <optional>
#include <string>

namespace thimble {

// stride, padding, dilation and groups are those of the convolution whose adjoint this is.
struct ConvTranspose2dAttrs {
  Pair stride = 1;  // the result is about this many times larger
  Padding padding;  // cells cut off the result: 1, {1, 2}, {top, bottom, left, right}, or
                    // Padding::same() for a result of size * stride
  // Rows and columns added below and to the right; below stride, or by what padding cuts off more.
  Pair output_padding = Pair(0);
  Pair dilation = 1;                         // distance between neighbouring taps of the window
  int64_t groups = 1;                        // divides both numbers of channels
  Activation activation = Activation::none;  // applied to the result
};
void describe(ConvTranspose2dAttrs& attrs, ir::FieldVisitor& visitor);

// Transposed 2-D convolution: exactly the adjoint of conv2d with these weights and settings, so
// <conv2d(y, w), x> = <y, conv_transpose2d(x, w)>; plus the bias.
// x: [N, H, W, C], weight: [C, kh, kw, K / groups], bias: [K] or none; y: [N, P, Q, K] with
// P = (H - 1) * stride - padding + dilation * (kh - 1) + 1 + output_padding; f32.
// Source: Dumoulin and Visin, "A guide to convolution arithmetic for deep learning", 2016.
// Errors: Error where sizes do not fit or output_padding is too large.
Value conv_transpose2d(Value x, Value weight, Value bias, const ConvTranspose2dAttrs& attrs = {});

struct ConvTranspose2dOptions {
  int64_t channels = 0;  // number of output channels; must be set
  Pair kernel = 1;
  Pair stride = 1;
  Padding padding;
  Pair output_padding = Pair(0);
  Pair dilation = 1;
  int64_t groups = 1;
  bool bias = true;
  Initializer weight_init = init::torch_default();
  std::optional<Initializer> bias_init;  // none: U(-1/sqrt(fan), 1/sqrt(fan)), see below
  std::string name;                      // of the layer; empty: conv_transpose2d_1, ...
};

// A transposed convolution layer. Adds the parameters <name>.weight [C, kh, kw, channels / groups]
// and <name>.bias [channels]. The fan of the default rules is kh * kw * channels / groups, as in
// PyTorch.
Value conv_transpose2d(Value x, const ConvTranspose2dOptions& options);

}  // namespace thimble
