// Weight gradients of convolutions whose weights are trained in part (ir::TrainedPart).
#pragma once

#include <thimble/graph.h>

#include <cstdint>
#include <optional>

#include "ir/op_def.h"

namespace thimble::ops {

// The parameters of a convolution with input channels in the weight [K, kh, kw, C / groups]: its
// last axis, of a depthwise one its first. Other groups share the indices of channels.
[[nodiscard]] std::optional<ir::LayerParameters> conv_parameters(const ir::KernelContext& c,
                                                                 int64_t groups);
// Of a transposed convolution, whose weight is [C, kh, kw, K / groups].
[[nodiscard]] std::optional<ir::LayerParameters> conv_transpose_parameters(int64_t groups);

// What the gradient of a weight is computed from: the trained channels of both images alone.
struct TrainedChannels {
  Value x;
  Value dy;
  int64_t groups;
  int64_t whole_channels;  // of the images before; 0: all are trained
};
// x: the input of the convolution; dy: the gradient of its result.
[[nodiscard]] TrainedChannels trained_channels(Value x, Value dy, Value weight, int64_t groups);

}  // namespace thimble::ops
