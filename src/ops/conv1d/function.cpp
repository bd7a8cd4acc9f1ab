#include <thimble/ops/conv1d.h>

#include "ir/function_def.h"

namespace thimble {

void describe(Conv1dOptions& o, ir::OptionVisitor& v) {
  v.field("channels", o.channels, "of the result; must be set for a layer");
  v.field("kernel", o.kernel, "size of the window");
  v.field("stride", o.stride, "places the window moves at a time");
  v.field("padding", o.padding, "zeros at the ends; of four numbers the last two count");
  v.field("dilation", o.dilation, "distance between neighbouring taps of the window");
  v.field("groups", o.groups, "divides both numbers of channels");
  v.field("bias", o.bias, "with a bias");
  v.field("weight_init", o.weight_init, "initial values of the weight");
  v.field("bias_init", o.bias_init,
          "initial values of the bias; none: U(-1/sqrt(fan_in), 1/sqrt(fan_in))");
  v.field("name", o.name, "of the layer; empty: numbered");
}

}  // namespace thimble

namespace thimble::ops::conv1d_impl {
namespace {

// Without groups, which are the channels.
struct DepthwiseOptions : Conv1dOptions {};

void describe(DepthwiseOptions& o, ir::OptionVisitor& v) {
  v.field("channels", o.channels, "of the result, a multiple of C; 0: C");
  v.field("kernel", o.kernel, "size of the window");
  v.field("stride", o.stride, "places the window moves at a time");
  v.field("padding", o.padding, "zeros at the ends; of four numbers the last two count");
  v.field("dilation", o.dilation, "distance between neighbouring taps of the window");
  v.field("bias", o.bias, "with a bias");
  v.field("weight_init", o.weight_init, "initial values of the weight");
  v.field("bias_init", o.bias_init,
          "initial values of the bias; none: U(-1/sqrt(fan_in), 1/sqrt(fan_in))");
  v.field("name", o.name, "of the layer; empty: numbered");
}

}  // namespace
}  // namespace thimble::ops::conv1d_impl

THIMBLE_FUNCTION_FOLDER(conv1d) {
  static const FunctionDef conv1d_function{
      .name = "conv1d",
      .doc =
          "1-D convolution of sequences: y[n, q, k] = sum over s, c of x[n, q*stride + s*dilation "
          "- padding, c] w[k, s, c] + bias[k]. A layer with parameters of its own, unless a weight "
          "is given; then channels and kernel are the weight's.",
      .example = "auto y = conv1d(x, {.channels = 8, .kernel = 3, .padding = 1});",
      .inputs = {{.name = "x", .doc = "[N, L, C]", .batch_rank = 3},
                 {"weight", "[channels, kernel, C / groups]; none: a layer's own", true},
                 {"bias", "[channels], beside a given weight", true}},
      .outputs = {{.name = "y", .doc = "[N, Q, channels]", .batch_rank = 3}},
      .parameters = {{"weight", "[channels, kernel, C / groups]"}, {"bias", "[channels]", true}},
      .options = ir::OptionSchema::of<Conv1dOptions>(),
      .required = {"channels"},
      .of_parameters = {"channels", "kernel"},
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        const auto& o = options_as<Conv1dOptions>(options);
        if (!in[1]) return {conv1d(in[0], o)};
        return {conv1d(in[0], in[1], in[2],
                       {.stride = o.stride,
                        .padding = o.padding,
                        .dilation = o.dilation,
                        .groups = o.groups})};
      },
  };
  static const FunctionDef depthwise_conv1d_function{
      .name = "depthwise_conv1d",
      .doc =
          "A convolution layer over sequences in which every input channel has channels / C "
          "windows of its own.",
      .example = "auto y = depthwise_conv1d(x, {.kernel = 3, .padding = 1});",
      .inputs = {{.name = "x", .doc = "[N, L, C]", .batch_rank = 3},
                 {"weight", "[channels, kernel, 1]; none: a layer's own", true},
                 {"bias", "[channels], beside a given weight", true}},
      .outputs = {{.name = "y", .doc = "[N, Q, channels]", .batch_rank = 3}},
      .parameters = {{"weight", "[channels, kernel, 1]"}, {"bias", "[channels]", true}},
      .options = ir::OptionSchema::of<DepthwiseOptions>(),
      .of_parameters = {"channels", "kernel"},
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        const auto& o = options_as<DepthwiseOptions>(options);
        if (!in[1]) return {depthwise_conv1d(in[0], o)};
        return {depthwise_conv1d(in[0], in[1], in[2],
                                 {.stride = o.stride, .padding = o.padding, .dilation = o.dilation},
                                 o.name)};
      },
  };
  static const FunctionDef* const defs[] = {&conv1d_function, &depthwise_conv1d_function};
  return defs;
}
