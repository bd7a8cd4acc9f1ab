#include <thimble/ops/conv_transpose1d.h>
#include <thimble/ops/conv_transpose2d.h>

#include "ops/families/builder/layer.h"
#include "ops/families/conv/conv.h"
#include "ops/families/conv/sequence.h"

// Built from conv_transpose2d: there is no op of its own.
THIMBLE_OP_FOLDER(conv_transpose1d) { return {}; }

namespace thimble {

Value conv_transpose1d(Value x, Value weight, Value bias, const ConvTranspose1dAttrs& attrs) {
  ops::check_sequence_weights("conv_transpose1d", x, weight, attrs.groups, true);
  return ops::sequence_op("conv_transpose1d", x, weight, [&] {
    return conv_transpose2d(ops::as_image(x), ops::as_image(weight), bias,
                            {.stride = {1, attrs.stride},
                             .padding = ops::end_padding(attrs.padding),
                             .output_padding = {0, attrs.output_padding},
                             .dilation = {1, attrs.dilation},
                             .groups = attrs.groups});
  });
}

Value conv_transpose1d(Value x, const ConvTranspose1dOptions& options) {
  ops::check_sequence("conv_transpose1d", x);
  const Shape& s = x.shape();
  ops::check_layer("conv_transpose1d", {s[0], 1, s[1], s[2]}, options.channels, {1, options.kernel},
                   options.groups);
  const ir::LayerScope layer(x.graph(), "conv_transpose1d", options.name);
  const Shape weight_shape{s[2], options.kernel, options.channels / options.groups};
  const Value weight = ops::layer_parameter(layer, x, "weight", weight_shape, options.weight_init);
  Value bias;
  if (options.bias) {
    bias = ops::layer_parameter(
        layer, x, "bias", {options.channels},
        ops::bias_rule(options.bias_init, weight_shape.elements() / weight_shape[0]));
  }
  return conv_transpose1d(x, weight, bias,
                          {.stride = options.stride,
                           .padding = options.padding,
                           .output_padding = options.output_padding,
                           .dilation = options.dilation,
                           .groups = options.groups});
}

}  // namespace thimble
