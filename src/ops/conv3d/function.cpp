#include <thimble/ops/conv3d.h>

#include "ir/function_def.h"

namespace thimble {

void describe(Conv3dOptions& o, ir::OptionVisitor& v) {
  v.field("channels", o.channels, "of the result; must be set for a layer");
  v.field("kernel", o.kernel, "size of the window: one number, or depth, height and width");
  v.field("stride", o.stride, "places the window moves at a time");
  v.field("padding", o.padding,
          "zeros around the volume; also six: front, back, top, bottom, left, right");
  v.field("dilation", o.dilation, "distance between neighbouring taps of the window");
  v.field("groups", o.groups, "divides both numbers of channels");
  v.field("bias", o.bias, "with a bias");
  v.field("weight_init", o.weight_init, "initial values of the weight");
  v.field("bias_init", o.bias_init,
          "initial values of the bias; none: U(-1/sqrt(fan_in), 1/sqrt(fan_in))");
  v.field("name", o.name, "of the layer; empty: numbered");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(conv3d) {
  static const FunctionDef def{
      .name = "conv3d",
      .doc =
          "3-D convolution of volumes, such as scans and short films. A layer with parameters of "
          "its own, unless a weight is given; then channels and kernel are the weight's.",
      .example = "auto y = conv3d(x, {.channels = 8, .kernel = {3}, .padding = {1}});",
      .inputs = {{.name = "x", .doc = "[N, D, H, W, C]", .batch_rank = 5},
                 {"weight", "[channels, kd, kh, kw, C / groups]; none: a layer's own", true},
                 {"bias", "[channels], beside a given weight", true}},
      .outputs = {{.name = "y", .doc = "[N, O, P, Q, channels]", .batch_rank = 5}},
      .parameters = {{"weight", "[channels, kd, kh, kw, C / groups]"},
                     {"bias", "[channels]", true}},
      .options = ir::OptionSchema::of<Conv3dOptions>(),
      .required = {"channels"},
      .of_parameters = {"channels", "kernel"},
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        const auto& o = options_as<Conv3dOptions>(options);
        if (!in[1]) return {conv3d(in[0], o)};
        return {conv3d(in[0], in[1], in[2],
                       {.stride = o.stride,
                        .padding = o.padding,
                        .dilation = o.dilation,
                        .groups = o.groups})};
      },
  };
  static const FunctionDef* const defs[] = {&def};
  return defs;
}
