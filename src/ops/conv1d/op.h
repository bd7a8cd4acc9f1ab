#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>
#include <thimble/initializer.h>

#include <cstdint>
#include <optional>
#include <string>

namespace thimble {

struct Conv1dAttrs {
  int64_t stride = 1;
  Padding padding;       // zeros at the ends: 1 for both, {0, 0, left, right}, Padding::same()
  int64_t dilation = 1;  // distance between neighbouring taps of the window
  int64_t groups = 1;    // divides both numbers of channels
};

// 1-D convolution of sequences: y[n, q, k] = sum over s, c of x[n, q*stride + s*dilation - padding,
// c] w[k, s, c] + bias[k]; with groups, each group of output channels reads its own group of input
// channels. Computed as conv2d of images of height 1; the reshapes are views. x: [N, L, C], weight:
// [K, size, C / groups], bias: [K] or none; y: [N, Q, K] with Q = floor((L + padding - dilation *
// (size - 1) - 1) / stride) + 1; f32. Errors: Error if sizes do not match.
Value conv1d(Value x, Value weight, Value bias, const Conv1dAttrs& attrs = {});

struct Conv1dOptions {
  int64_t channels = 0;  // number of output channels; must be set
  int64_t kernel = 1;    // size of the window
  int64_t stride = 1;
  Padding padding;  // at the ends, as above
  int64_t dilation = 1;
  int64_t groups = 1;
  bool bias = true;
  Initializer weight_init = init::torch_default();
  std::optional<Initializer> bias_init;  // none: U(-1/sqrt(fan_in), 1/sqrt(fan_in))
  std::string name;                      // of the layer; empty: conv1d_1, conv1d_2, ...
};

// A convolution layer over sequences. Adds the parameters <name>.weight
// [channels, kernel, C / groups] and <name>.bias [channels].
Value conv1d(Value x, const Conv1dOptions& options);

// A depthwise convolution layer: every channel has its own window. options.groups is set by the
// layer; options.channels may be 0 (as many as x has) or a multiple of that number. The layer's
// name is depthwise_conv1d_1, ...
Value depthwise_conv1d(Value x, Conv1dOptions options);
// The same with given weights, which creates no parameters. weight: [channels, k, 1], channels a
// multiple of those of x; bias: [channels], or none; attrs.groups is found.
Value depthwise_conv1d(Value x, Value weight, Value bias, Conv1dAttrs attrs = {},
                       const std::string& name = {});

}  // namespace thimble
