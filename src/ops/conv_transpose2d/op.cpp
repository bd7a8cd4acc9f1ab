#include <thimble/ops/conv2d.h>
#include <thimble/ops/conv2d_weight_grad.h>
#include <thimble/ops/conv_transpose2d.h>
#include <thimble/ops/quantized_conv_transpose2d.h>
#include <thimble/ops/sum_to.h>

#include "ir/function_def.h"
#include "ops/families/builder/layer.h"
#include "ops/families/conv/conv.h"
#include "ops/families/conv/conv_kernel_dims.h"
#include "ops/families/conv/conv_kernels.h"
#include "ops/families/conv/trained.h"
#include "ops/families/conv/transposed.h"
#include "ops/families/move/trained.h"
#include "ops/families/unary/activation_grad.h"

#define THIMBLE_OP conv_transpose2d
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::conv_transpose2d_impl {
namespace {

Convolution convolution(const ConvTranspose2dAttrs& attrs, const Shape& weight) {
  return convolution_of(attrs, image_size(weight));
}

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  check_image(c, 0);
  c.require_rank(1, 4);
  const Shape& x = c.shape(0);
  check_window(c, convolution(c.attrs.as<ConvTranspose2dAttrs>(), c.shape(1)).window);
  const ConvTranspose2dAttrs attrs = canonical_transpose(c.attrs.as<ConvTranspose2dAttrs>());
  const int64_t channels = grouped_channels(c, attrs.groups);
  check_weights(c, attrs.groups, x[3], channels, "input", "output");
  check_bias(c, channels);
  const Window window = convolution(attrs, c.shape(1)).window;
  const Pair size = checked_transpose_size(c, attrs, window);
  return {{DType::f32, {x[0], size.h, size.w, channels}}};
}

ir::Params params(const ir::KernelContext& c) {
  const ConvTranspose2dAttrs attrs = canonical_transpose(c.attrs.as<ConvTranspose2dAttrs>());
  conv_transpose2d_dims d =
      conv_sizes(convolution(attrs, c.in(1)), c.in(0), c.out(), image_size(c.out()));
  d.activation = kernel_activation_of(attrs.activation);
  return d;
}

// The adjoint of the adjoint is the convolution itself. The weight gradient is that of the
// convolution with the two images swapped.
std::vector<Value> vjp(const ir::VjpContext& c) {
  const ConvTranspose2dAttrs attrs = canonical_transpose(c.attrs.as<ConvTranspose2dAttrs>());
  const Value x = c.input(0);
  const Value weight = c.input(1);
  const Value dy = activation_grad(attrs.activation, c.grad(), c.output());
  std::vector<Value> grads(3);
  // The weight gradient is computed first: the input is not needed after it.
  if (c.need(1)) {
    grads[1] = conv2d_weight_grad(dy, trained_slices(x, 3, weight, attrs.groups == 1 ? 0 : -1),
                                  {.kernel = image_size(weight.shape()),
                                   .stride = attrs.stride,
                                   .padding = attrs.padding,
                                   .dilation = attrs.dilation,
                                   .groups = attrs.groups});
  }
  if (c.need(2)) grads[2] = sum_to(dy, c.input(2).shape());
  if (c.need(0)) {
    grads[0] = conv2d(dy, weight, Value(),
                      {.stride = attrs.stride,
                       .padding = attrs.padding,
                       .dilation = attrs.dilation,
                       .groups = attrs.groups});
  }
  return grads;
}

std::vector<Value> quantized(const ir::QuantizeContext& c) {
  const auto& attrs = c.attrs.as<ConvTranspose2dAttrs>();
  return {quantized_conv_transpose2d(c.input(0), c.input(1), c.input(2),
                                     {.stride = attrs.stride,
                                      .padding = attrs.padding,
                                      .output_padding = attrs.output_padding,
                                      .dilation = attrs.dilation,
                                      .groups = attrs.groups,
                                      .activation = attrs.activation,
                                      .scale = c.scale,
                                      .zero_point = c.zero_point,
                                      .requantization = c.requantization})};
}

// Groups share the scales of weights.
std::optional<ir::WeightLayout> weights(const ir::KernelContext&) {
  return ir::WeightLayout{.channels = 3};
}

const OpDef& conv_transpose2d_op() {
  static const OpDef def{
      .name = "conv_transpose2d",
      .signature{
          .doc = "Transposed 2-D convolution, the adjoint of conv2d: y[n, p, q, k] = act(sum of "
                 "x[n, h, w, c] w[c, r, s, k] over all h, w, r, s, c with p = h*stride + "
                 "r*dilation - padding and likewise q, plus bias[k]).",
          .example = "auto y = conv_transpose2d(x, {.channels = 4, .kernel = 4, .stride = 2, "
                     ".padding = 1});",
          .inputs = {{.name = "x", .doc = "[N, H, W, C]", .batch_rank = 4},
                     {"weight", "[C, kh, kw, K / groups]"},
                     {"bias", "[K]", true}},
          .outputs = {{.name = "y", .doc = "[N, P, Q, K]", .batch_rank = 4}},
          .attrs = ir::Attrs::schema_of<ConvTranspose2dAttrs>(),
      },
      .infer = infer,
      .gradient{.vjp = vjp},
      .rewrite{.fuse_activation = fuse_activation<ConvTranspose2dAttrs>},
      .kernels{
          .params = params,
          .workspace =
              [](const ir::Params& p, int threads) {
                return conv_transpose2d_workspace_bytes(p.as<conv_transpose2d_dims>(), threads);
              },
          .flops = conv_transpose_flops,
          .fast_flops = fast_conv_flops<conv_transpose2d_fast_flops>,
          .ref = ir::kernel_fn<&f32::conv_transpose2d_ref>(),
          .ref64 = ir::kernel_fn<&f64::conv_transpose2d_ref>(),
          .fast = ir::kernel_fn<&conv_transpose2d_simd>(),
          .row_blocks = [](const ir::KernelContext&) -> ir::RowBlocks {
            return {{0}, {0}};
          },
      },
      .quantized{.build = quantized, .weights = weights, .rescales = true},
      .layer =
          [](const ir::KernelContext& c) {
            return conv_transpose_parameters(c.attrs.as<ConvTranspose2dAttrs>().groups);
          },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::conv_transpose2d_impl

THIMBLE_OP_FOLDER(conv_transpose2d) {
  static const OpDef* const defs[] = {&conv_transpose2d_op()};
  return defs;
}

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
  v.field("weight_init", o.weight_init, "initial values of the weight");
  v.field("bias_init", o.bias_init, "initial values of the bias; none: as in PyTorch");
  v.field("name", o.name, "of the layer; empty: numbered");
}

void describe(ConvTranspose2dAttrs& a, ir::FieldVisitor& v) {
  v.field("stride", a.stride, "the result is about this many times as large");
  v.field("padding", a.padding, "cells cut off the result");
  v.field("output_padding", a.output_padding, "rows and columns added below and to the right");
  v.field("dilation", a.dilation, "distance between neighbouring taps of the window");
  v.field("groups", a.groups, "equal runs that the channels are split into");
  v.field("activation", a.activation, "applied to the result");
}

Value conv_transpose2d(Value x, Value weight, Value bias, const ConvTranspose2dAttrs& attrs) {
  return x.graph().add1(ops::conv_transpose2d_impl::conv_transpose2d_op(), ir::Attrs::of(attrs),
                        {x, weight, bias});
}

Value conv_transpose2d(Value x, const ConvTranspose2dOptions& options) {
  ops::check_layer("conv_transpose2d", x.shape(), options.channels, options.kernel, options.groups);
  const ir::LayerScope layer(x.graph(), "conv_transpose2d", options.name);
  const Shape weight_shape{x.shape()[3], options.kernel.h, options.kernel.w,
                           options.channels / options.groups};
  const Value weight = ops::layer_parameter(layer, x, "weight", weight_shape, options.weight_init);
  Value bias;
  if (options.bias) {
    bias = ops::layer_parameter(
        layer, x, "bias", {options.channels},
        ops::bias_rule(options.bias_init, weight_shape.elements() / weight_shape[0]));
  }
  return conv_transpose2d(x, weight, bias,
                          {.stride = options.stride,
                           .padding = options.padding,
                           .output_padding = options.output_padding,
                           .dilation = options.dilation,
                           .groups = options.groups});
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
