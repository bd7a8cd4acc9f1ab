#include <thimble/ops/depthwise_conv2d.h>

#include "ir/function_def.h"

THIMBLE_FUNCTION_FOLDER(depthwise_conv2d) {
  static const FunctionDef def{
      .name = "depthwise_conv2d",
      .doc =
          "A convolution layer in which every input channel has channels / C windows of its own; "
          "channels: C where it is 0, and groups is C.",
      .example = "auto y = depthwise_conv2d(x, {.kernel = 3, .padding = 1});",
      .inputs = {{.name = "x", .doc = "[N, H, W, C]", .batch_rank = 4},
                 {"weight", "[channels, kh, kw, 1]; none: a layer's own", true},
                 {"bias", "[channels], beside a given weight", true}},
      .outputs = {{.name = "y", .doc = "[N, P, Q, channels]", .batch_rank = 4}},
      .parameters = {{"weight", "[channels, kh, kw, 1]"}, {"bias", "[channels]", true}},
      .options = ir::OptionSchema::of<Conv2dOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        const auto& layer = options_as<Conv2dOptions>(options);
        if (!in[1]) return {depthwise_conv2d(in[0], layer)};
        return {depthwise_conv2d(
            in[0], in[1], in[2],
            {.stride = layer.stride, .padding = layer.padding, .dilation = layer.dilation},
            layer.name)};
      },
  };
  static const FunctionDef* const defs[] = {&def};
  return defs;
}
