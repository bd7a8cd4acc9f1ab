#include <thimble/ops/conv_transpose2d.h>

#include "ir/function_def.h"

namespace thimble {

void describe(ConvTranspose2dOptions& o, ir::OptionVisitor& v) {
  v.field("channels", o.channels, "of the result; must be set");
  v.field("kernel", o.kernel, "height and width of the window");
  v.field("stride", o.stride, "the result is about this many times as large");
  v.field("padding", o.padding, "cells cut off the result");
  v.field("output_padding", o.output_padding, "rows and columns added below and to the right");
  v.field("dilation", o.dilation, "distance between neighbouring taps of the window");
  v.field("groups", o.groups, "divides both numbers of channels");
  v.field("bias", o.bias, "with a bias");
  v.field("weight_init", o.weight_init, "first values of the weight");
  v.field("bias_init", o.bias_init, "first values of the bias; none: as in PyTorch");
  v.field("name", o.name, "of the layer; empty: numbered");
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(conv_transpose2d) {
  static const FunctionDef conv_transpose2d_function{
      .name = "conv_transpose2d",
      .doc = "A transposed convolution layer over images: about stride times as large.",
      .inputs = {{.name = "x", .doc = "[N, H, W, C]", .batch_rank = 4}},
      .outputs = {{.name = "y", .doc = "[N, P, Q, channels]", .batch_rank = 4}},
      .parameters = {{"weight", "[C, kh, kw, channels / groups]"}, {"bias", "[channels]", true}},
      .options = ir::OptionSchema::of<ConvTranspose2dOptions>(),
      .required = {"channels"},
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {conv_transpose2d(in[0], options_as<ConvTranspose2dOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&conv_transpose2d_function};
  return defs;
}
