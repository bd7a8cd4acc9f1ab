#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>
#include <thimble/initializer.h>

#include <cstdint>
#include <optional>
#include <string>

namespace thimble {

// stride, padding, dilation and groups are those of the convolution whose adjoint this is.
struct ConvTranspose1dAttrs {
  int64_t stride = 1;          // the result is about this many times longer
  Padding padding;             // cells cut off the ends: 1 for both, {0, 0, left, right}, or
                               // Padding::same() for a result of size * stride
  int64_t output_padding = 0;  // steps added at the end; below stride
  int64_t dilation = 1;        // distance between neighbouring taps of the window
  int64_t groups = 1;          // divides both numbers of channels
};

// Transposed 1-D convolution: exactly the adjoint of conv1d with these weights and settings, plus
// the bias. Computed as conv_transpose2d of images of height 1; the reshapes are views. x: [N, L,
// C], weight: [C, size, K / groups], bias: [K] or none; y: [N, Q, K] with Q = (L - 1) * stride -
// padding + dilation * (size - 1) + 1 + output_padding; f32. Errors: Error if sizes do not match or
// output_padding is not below stride.
Value conv_transpose1d(Value x, Value weight, Value bias, const ConvTranspose1dAttrs& attrs = {});

struct ConvTranspose1dOptions {
  int64_t channels = 0;  // number of output channels; must be set
  int64_t kernel = 1;    // size of the window
  int64_t stride = 1;
  Padding padding;  // at the ends, as above
  int64_t output_padding = 0;
  int64_t dilation = 1;
  int64_t groups = 1;
  bool bias = true;
  Initializer weight_init = init::torch_default();
  std::optional<Initializer> bias_init;  // none: U(-1/sqrt(fan), 1/sqrt(fan)), see below
  std::string name;                      // of the layer; empty: conv_transpose1d_1, ...
};

// A transposed convolution layer over sequences. Adds the parameters <name>.weight
// [C, kernel, channels / groups] and <name>.bias [channels]. The fan of the default rules is
// kernel * channels / groups, as in PyTorch.
Value conv_transpose1d(Value x, const ConvTranspose1dOptions& options);

}  // namespace thimble
