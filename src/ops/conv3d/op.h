#pragma once

#include <thimble/graph.h>
#include <thimble/initializer.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace thimble {

// Lists have one number for all axes, or three for depth, height and width.
struct Conv3dAttrs {
  std::vector<int64_t> stride = {1};
  std::vector<int64_t> padding = {0};   // zeros; also six: front, back, top, bottom, left, right
  std::vector<int64_t> dilation = {1};  // distance between neighbouring taps of the window
  int64_t groups = 1;                   // divides both numbers of channels
};

// 3-D convolution of volumes, such as scans and short films: y[n, o, p, q, k] = sum over t, r, s, c
// of x[n, o*stride + t*dilation - padding, p.., q.., c] w[k, t, r, s, c] + bias[k]. Computed as
// conv2d of the planes under a window, concatenated as channels; this takes memory for kd copies of
// x, which a plan may recompute. x: [N, D, H, W, C], weight: [K, kd, kh, kw, C / groups], bias: [K]
// or none; y: [N, O, P, Q, K] with O = floor((D + padding - dilation * (kd - 1) - 1) / stride) + 1,
// P and Q likewise; f32. Equal to torch.nn.functional.conv3d. Errors: Error if sizes do not match.
Value conv3d(Value x, Value weight, Value bias, const Conv3dAttrs& attrs = {});

struct Conv3dOptions {
  int64_t channels = 0;               // number of output channels; must be set
  std::vector<int64_t> kernel = {1};  // one number, or depth, height and width
  std::vector<int64_t> stride = {1};
  std::vector<int64_t> padding = {0};
  std::vector<int64_t> dilation = {1};
  int64_t groups = 1;
  bool bias = true;
  Initializer weight_init = init::torch_default();
  std::optional<Initializer> bias_init;  // none: U(-1/sqrt(fan_in), 1/sqrt(fan_in))
  std::string name;                      // of the layer; empty: conv3d_1, conv3d_2, ...
};
void describe(Conv3dOptions& options, ir::OptionVisitor& visitor);

// A convolution layer over volumes. Adds the parameters <name>.weight
// [channels, kd, kh, kw, C / groups] and <name>.bias [channels].
Value conv3d(Value x, const Conv3dOptions& options);

}  // namespace thimble
