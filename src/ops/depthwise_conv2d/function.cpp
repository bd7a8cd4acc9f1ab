#include <thimble/ops/depthwise_conv2d.h>

#include "ir/function_def.h"

namespace thimble::ops::depthwise_conv2d_impl {
namespace {

// Without groups, which are the channels.
struct LayerOptions : Conv2dOptions {};

void describe(LayerOptions& o, ir::OptionVisitor& v) {
  v.field("channels", o.channels, "of the result, a multiple of C; 0: C");
  v.field("kernel", o.kernel, "height and width of the window");
  v.field("stride", o.stride, "places the window moves at a time");
  v.field("padding", o.padding, "zeros around the image");
  v.field("dilation", o.dilation, "distance between neighbouring taps of the window");
  v.field("bias", o.bias, "with a bias");
  v.field("weight_init", o.weight_init, "initial values of the weight");
  v.field("bias_init", o.bias_init,
          "initial values of the bias; none: U(-1/sqrt(fan_in), 1/sqrt(fan_in))");
  v.field("name", o.name, "of the layer; empty: numbered");
}

}  // namespace
}  // namespace thimble::ops::depthwise_conv2d_impl

THIMBLE_FUNCTION_FOLDER(depthwise_conv2d) {
  static const FunctionDef def{
      .name = "depthwise_conv2d",
      .doc =
          "A convolution layer in which every input channel has channels / C windows of its own.",
      .example = "auto y = depthwise_conv2d(x, {.kernel = 3, .padding = 1});",
      .inputs = {{.name = "x", .doc = "[N, H, W, C]", .batch_rank = 4},
                 {"weight", "[channels, kh, kw, 1]; none: a layer's own", true},
                 {"bias", "[channels], beside a given weight", true}},
      .outputs = {{.name = "y", .doc = "[N, P, Q, channels]", .batch_rank = 4}},
      .parameters = {{"weight", "[channels, kh, kw, 1]"}, {"bias", "[channels]", true}},
      .options = ir::OptionSchema::of<LayerOptions>(),
      .of_parameters = {"channels", "kernel"},
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        const auto& layer = options_as<LayerOptions>(options);
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
