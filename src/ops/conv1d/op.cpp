#include <thimble/ops/conv1d.h>
#include <thimble/ops/conv2d.h>

#include <fmt/format.h>

#include <algorithm>

#include "ops/families/builder/layer.h"
#include "ops/families/conv/conv.h"
#include "ops/families/conv/sequence.h"

// Built from conv2d: there is no op of its own.
THIMBLE_OP_FOLDER(conv1d) { return {}; }

namespace thimble {

Value conv1d(Value x, Value weight, Value bias, const Conv1dAttrs& attrs) {
  ops::check_sequence_weights("conv1d", x, weight, attrs.groups, false);
  return ops::sequence_op("conv1d", x, weight, [&] {
    return conv2d(ops::as_image(x), ops::as_image(weight), bias,
                  {.stride = {1, attrs.stride},
                   .padding = ops::end_padding(attrs.padding),
                   .dilation = {1, attrs.dilation},
                   .groups = attrs.groups});
  });
}

Value conv1d(Value x, const Conv1dOptions& options) {
  ops::check_sequence("conv1d", x);
  const Shape& s = x.shape();
  ops::check_layer("conv1d", {s[0], 1, s[1], s[2]}, options.channels, {1, options.kernel},
                   options.groups);
  const ir::LayerScope layer(x.graph(), "conv1d", options.name);
  const Shape weight_shape{options.channels, options.kernel, s[2] / options.groups};
  const Value weight = ops::layer_parameter(layer, x, "weight", weight_shape, options.weight_init);
  Value bias;
  if (options.bias) {
    bias = ops::layer_parameter(
        layer, x, "bias", {options.channels},
        ops::bias_rule(options.bias_init, weight_shape.elements() / options.channels));
  }
  return conv1d(x, weight, bias,
                {.stride = options.stride,
                 .padding = options.padding,
                 .dilation = options.dilation,
                 .groups = options.groups});
}

Value depthwise_conv1d(Value x, Conv1dOptions options) {
  ops::check_sequence("depthwise_conv1d", x);
  options.groups = x.shape()[2];
  if (options.channels == 0) options.channels = options.groups;
  if (options.channels % std::max<int64_t>(1, options.groups) != 0) {
    throw Error("depthwise_conv1d",
                fmt::format("expected channels to be a multiple of the {} input channels, got {}",
                            options.groups, options.channels));
  }
  const ir::LayerScope layer(x.graph(), "depthwise_conv1d", options.name);
  return conv1d(x, options);
}

Value depthwise_conv1d(Value x, Value weight, Value bias, Conv1dAttrs attrs,
                       const std::string& name) {
  ops::check_sequence("depthwise_conv1d", x);
  attrs.groups = x.shape()[2];
  if (!weight || weight.shape().rank() != 3 || weight.shape()[2] != 1) {
    throw Error("depthwise_conv1d",
                fmt::format("expected a weight [channels, k, 1], got {}",
                            weight ? to_string(weight.shape()) : std::string("none")));
  }
  const ir::LayerScope layer(x.graph(), "depthwise_conv1d", name);
  return conv1d(x, weight, bias, attrs);
}

}  // namespace thimble
