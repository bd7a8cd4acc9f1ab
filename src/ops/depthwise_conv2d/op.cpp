#include <thimble/ops/depthwise_conv2d.h>

#include <fmt/format.h>

#include <algorithm>

#include "ir/graph.h"

// A layer over conv2d: it has a builder, but no op of its own.
THIMBLE_OP_FOLDER(depthwise_conv2d) { return {}; }

namespace thimble {

Value depthwise_conv2d(Value x, Conv2dOptions options) {
  if (x.shape().rank() != 4) {
    throw Error("depthwise_conv2d",
                fmt::format("expected x to be images [N, H, W, C], got {}", to_string(x.shape())));
  }
  options.groups = x.shape()[3];
  if (options.channels == 0) options.channels = options.groups;
  if (options.channels % std::max<int64_t>(1, options.groups) != 0) {
    throw Error("depthwise_conv2d",
                fmt::format("expected channels to be a multiple of the {} input channels, got {}",
                            options.groups, options.channels));
  }
  const ir::LayerScope layer(x.graph(), "depthwise_conv2d", options.name);
  return conv2d(x, options);
}

Value depthwise_conv2d(Value x, Value weight, Value bias, Conv2dAttrs attrs,
                       const std::string& name) {
  if (x.shape().rank() != 4) {
    throw Error("depthwise_conv2d",
                fmt::format("expected x to be images [N, H, W, C], got {}", to_string(x.shape())));
  }
  attrs.groups = x.shape()[3];
  if (!weight || weight.shape().rank() != 4 || weight.shape()[3] != 1) {
    throw Error("depthwise_conv2d",
                fmt::format("expected a weight [channels, kh, kw, 1], got {}",
                            weight ? to_string(weight.shape()) : std::string("none")));
  }
  const ir::LayerScope layer(x.graph(), "depthwise_conv2d", name);
  return conv2d(x, weight, bias, attrs);
}

}  // namespace thimble
