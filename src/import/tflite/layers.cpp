// Convolutions, dense layers and products.
#include <thimble/ops.h>

#include <algorithm>

#include "import/tflite/node.h"
#include "ir/graph.h"

namespace thimble::tflite {
namespace {

thimble::Padding padding_of(const Node& node, Padding padding) {
  if (padding == Padding_SAME) return thimble::Padding::same();
  if (padding == Padding_VALID) return 0;
  node.fail(fmt::format("there is no padding {}", int{padding}));
}

int64_t size_of(const Node& node, const char* what, int32_t size) {
  if (size < 1) node.fail(fmt::format("{}: expected 1 or more, got {}", what, size));
  return size;
}
template <class Options>
Pair stride_of(const Node& node, const Options& o) {
  return {size_of(node, "stride_h", o.stride_h()), size_of(node, "stride_w", o.stride_w())};
}
template <class Options>
Pair dilation_of(const Node& node, const Options& o) {
  return {size_of(node, "dilation_h", o.dilation_h()), size_of(node, "dilation_w", o.dilation_w())};
}

// Weights of a layer and, where input i is given, its bias.
struct Weights {
  Value weight;
  Value bias;
};
Weights weights_of(Node& node, const std::string& layer, int bias, Layout layout) {
  const bool int8 = node.is_int8();
  Weights made{node.parameter(1, layer + ".weight", int8, layout), {}};
  if (node.has(bias)) made.bias = node.parameter(bias, layer + ".bias", int8, Layout::flat);
  return made;
}

// The attributes that conv2d and quantized_conv2d share.
template <class Attrs, class Options>
Attrs convolution(const Node& node, const Options& o, int64_t groups) {
  Attrs attrs;
  attrs.stride = stride_of(node, o);
  attrs.padding = padding_of(node, o.padding());
  attrs.dilation = dilation_of(node, o);
  attrs.groups = groups;
  return attrs;
}

template <class Options>
void add_convolution(Node& node, const char* type, const Options& o, int64_t groups,
                     Layout layout) {
  const Value x = node.input(0);
  if (node.is_int8()) {
    const ir::LayerScope layer(node.ir(), "quantized_conv2d", "");
    const Weights w = weights_of(node, layer.name(), 2, layout);
    auto attrs = node.scaled(convolution<QuantizedConv2dAttrs>(node, o, groups));
    attrs.activation = bounds_of(node, o.activation());
    return node.give(quantized_conv2d(x, w.weight, w.bias, attrs));
  }
  const ir::LayerScope layer(node.ir(), type, "");
  const Weights w = weights_of(node, layer.name(), 2, layout);
  const Value y = conv2d(x, w.weight, w.bias, convolution<Conv2dAttrs>(node, o, groups));
  node.give(activated(node, y, o.activation()));
}

int64_t channels_of(const Node& node, const Value& x) {
  if (x.shape().rank() != 4) {
    node.fail("expected images [N, H, W, C], got " + to_string(x.shape()));
  }
  return std::max<int64_t>(x.shape()[3], 1);
}

void conv_2d(Node& node) {
  const auto& o = node.options<Conv2DOptions>(BuiltinOptions_Conv2DOptions);
  const int64_t channels = channels_of(node, node.input(0));
  const Shape& weight = node.tensor(1).shape;
  const int64_t each = weight.rank() == 4 ? std::max<int64_t>(weight[3], 1) : 1;
  if (channels % each != 0) {
    node.fail(fmt::format("weights {} do not fit {} channels", to_string(weight), channels));
  }
  add_convolution(node, "conv2d", o, channels / each, Layout::same);
}

void depthwise_conv_2d(Node& node) {
  const auto& o = node.options<DepthwiseConv2DOptions>(BuiltinOptions_DepthwiseConv2DOptions);
  add_convolution(node, "depthwise_conv2d", o, channels_of(node, node.input(0)), Layout::depthwise);
}

// The forward convolution leads from the result to x.
template <class Attrs>
Attrs transposed(const Node& node, const TransposeConvOptions& o, const Value& x) {
  const Shape& weight = node.tensor(1).shape;
  const Shape& y = node.result().shape;
  if (weight.rank() != 4 || y.rank() != 4 || x.shape().rank() != 4) {
    node.fail("expected images and weights of 4 dimensions");
  }
  Attrs attrs;
  attrs.stride = stride_of(node, o);
  int64_t before[2];
  int64_t after[2];
  int64_t added[2];
  for (int i = 0; i < 2; ++i) {
    const int64_t stride = i == 0 ? attrs.stride.h : attrs.stride.w;
    const int64_t whole = (x.shape()[1 + i] - 1) * stride + weight[1 + i];
    const int64_t cut = std::max<int64_t>(whole - y[1 + i], 0);
    if (o.padding() == Padding_VALID && cut > 0) node.fail("its result is too small");
    before[i] = cut / 2;
    after[i] = cut - cut / 2;
    added[i] = std::max<int64_t>(y[1 + i] - whole, 0);
  }
  attrs.padding = {before[0], after[0], before[1], after[1]};
  attrs.output_padding = {added[0], added[1]};
  return attrs;
}

void transpose_conv(Node& node) {
  const auto& o = node.options<TransposeConvOptions>(BuiltinOptions_TransposeConvOptions);
  static_cast<void>(padding_of(node, o.padding()));
  const Value x = node.input(2);
  const bool int8 = node.is_int8(2);
  const ir::LayerScope layer(node.ir(), int8 ? "quantized_conv_transpose2d" : "conv_transpose2d",
                             "");
  const Value weight = node.parameter(1, layer.name() + ".weight", int8, Layout::transposed);
  Value bias;
  if (node.has(3)) bias = node.parameter(3, layer.name() + ".bias", int8, Layout::flat);
  if (int8) {
    auto attrs = node.scaled(transposed<QuantizedConvTranspose2dAttrs>(node, o, x));
    attrs.activation = bounds_of(node, o.activation());
    return node.give(quantized_conv_transpose2d(x, weight, bias, attrs));
  }
  const Value y = conv_transpose2d(x, weight, bias, transposed<ConvTranspose2dAttrs>(node, o, x));
  node.give(activated(node, y, o.activation()));
}

void fully_connected(Node& node) {
  const auto& o = node.options<FullyConnectedOptions>(BuiltinOptions_FullyConnectedOptions);
  if (o.weights_format() != 0) {
    node.fail(fmt::format("its weights are in the format {}, which thimble does not read",
                          int{o.weights_format()}));
  }
  const Shape& weight = node.tensor(1).shape;
  if (weight.rank() != 2 || weight[1] < 1) {
    node.fail("expected weights [units, features], got " + to_string(weight));
  }
  Value x = node.input(0);
  if (!o.keep_num_dims() && (x.shape().rank() != 2 || x.shape()[1] != weight[1])) {
    if (x.shape().elements() % weight[1] != 0) {
      node.fail(fmt::format("weights {} do not fit {}", to_string(weight), to_string(x.shape())));
    }
    x = reshape(x, {-1, weight[1]});
  }
  Value y;
  if (node.is_int8()) {
    const ir::LayerScope layer(node.ir(), "quantized_dense", "");
    const Weights w = weights_of(node, layer.name(), 2, Layout::rows);
    y = quantized_dense(x, w.weight, w.bias,
                        node.scaled(QuantizedDenseAttrs{bounds_of(node, o.activation())}));
  } else {
    const ir::LayerScope layer(node.ir(), "dense", "");
    const Weights w = weights_of(node, layer.name(), 2, Layout::same);
    y = activated(node, dense(x, w.weight, w.bias), o.activation());
  }
  node.give(node.shaped(y));
}

void batch_matmul(Node& node) {
  const auto* const o = node.options_if<BatchMatMulOptions>(BuiltinOptions_BatchMatMulOptions);
  if (node.is_int8()) node.fail("thimble has no product of two int8 tensors");
  const ir::LayerScope layer(node.ir(), "matmul", "");
  const Value a = node.input(0);
  const bool is_weight = node.is_constant(1);
  const Value b = is_weight ? node.parameter(1, layer.name() + ".weight", false) : node.input(1);
  const bool transpose_a = o != nullptr && o->adj_x();
  const bool transpose_b = o != nullptr && o->adj_y();
  node.give(matmul(a, b, {.transpose_a = transpose_a, .transpose_b = transpose_b}));
}

void instance_norm(Node& node) {
  const auto& o = node.options<InstanceNormOptions>(BuiltinOptions_InstanceNormOptions);
  const ir::LayerScope layer(node.ir(), "instance_norm", "");
  const Value gamma = node.parameter(1, layer.name() + ".weight", false, Layout::flat);
  const Value beta = node.parameter(2, layer.name() + ".bias", false, Layout::flat);
  const Value y = thimble::instance_norm(node.input(0), gamma, beta, Value(), Value(),
                                         {.epsilon = static_cast<double>(o.epsilon())});
  node.give(activated(node, y, o.activation()));
}

void rms_norm(Node& node) {
  const auto& o = node.options<RmsNormOptions>(BuiltinOptions_RmsNormOptions);
  const ir::LayerScope layer(node.ir(), "rms_norm", "");
  Value gamma;
  if (node.has(1)) gamma = node.parameter(1, layer.name() + ".weight", false, Layout::flat);
  const Value y = thimble::rms_norm(
      node.input(0), gamma, RmsNormAttrs{.dims = 1, .epsilon = static_cast<double>(o.epsilon())});
  node.give(activated(node, y, o.activation()));
}

}  // namespace

std::span<const Rule> layer_rules() {
  static const Rule rules[] = {
      {3, "CONV_2D", conv_2d},
      {4, "DEPTHWISE_CONV_2D", depthwise_conv_2d},
      {9, "FULLY_CONNECTED", fully_connected},
      {67, "TRANSPOSE_CONV", transpose_conv},
      {126, "BATCH_MATMUL", batch_matmul},
      {-2, "INSTANCE_NORM", instance_norm},
      {-6, "RMS_NORM", rms_norm},
  };
  return rules;
}

}  // namespace thimble::tflite
