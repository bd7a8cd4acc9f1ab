#include <thimble/ops/conv_transpose1d.h>

#include "ir/function_def.h"

namespace thimble {

void describe(ConvTranspose1dOptions& o, ir::OptionVisitor& v) {
  v.field("channels", o.channels, "of the result; must be set for a layer");
  v.field("kernel", o.kernel, "size of the window");
  v.field("stride", o.stride, "the result is about this many times as long");
  v.field("padding", o.padding, "cells cut off the ends; of four numbers the last two count");
  v.field("output_padding", o.output_padding, "steps added at the end");
  v.field("dilation", o.dilation, "distance between neighbouring taps of the window");
  v.field("groups", o.groups, "divides both numbers of channels");
  v.field("bias", o.bias, "with a bias");
  v.field("weight_init", o.weight_init, "initial values of the weight");
  v.field("bias_init", o.bias_init, "initial values of the bias; none: as in PyTorch");
  v.field("name", o.name, "of the layer; empty: numbered");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(conv_transpose1d) {
  static const FunctionDef conv_transpose1d_function{
      .name = "conv_transpose1d",
      .doc =
          "Transposed 1-D convolution of sequences, the adjoint of conv1d plus a bias. A layer "
          "with "
          "parameters of its own, unless a weight is given; then channels and kernel are the "
          "weight's.",
      .example =
          "auto y = conv_transpose1d(x, {.channels = 8, .kernel = 4, .stride = 2, .padding = 1});",
      .inputs = {{.name = "x", .doc = "[N, L, C]", .batch_rank = 3},
                 {"weight", "[C, kernel, channels / groups]; none: a layer's own", true},
                 {"bias", "[channels], beside a given weight", true}},
      .outputs = {{.name = "y", .doc = "[N, Q, channels]", .batch_rank = 3}},
      .parameters = {{"weight", "[C, kernel, channels / groups]"}, {"bias", "[channels]", true}},
      .options = ir::OptionSchema::of<ConvTranspose1dOptions>(),
      .required = {"channels"},
      .of_parameters = {"channels", "kernel"},
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        const auto& o = options_as<ConvTranspose1dOptions>(options);
        if (!in[1]) return {conv_transpose1d(in[0], o)};
        return {conv_transpose1d(in[0], in[1], in[2],
                                 {.stride = o.stride,
                                  .padding = o.padding,
                                  .output_padding = o.output_padding,
                                  .dilation = o.dilation,
                                  .groups = o.groups})};
      },
  };
  static const FunctionDef* const defs[] = {&conv_transpose1d_function};
  return defs;
}
