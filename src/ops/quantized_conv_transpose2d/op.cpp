#include <thimble/ops/conv2d.h>
#include <thimble/ops/conv2d_weight_grad.h>
#include <thimble/ops/quantized_conv_transpose2d.h>
#include <thimble/ops/sum_to.h>

#include "ir/graph.h"
#include "ops/families/conv/conv.h"
#include "ops/families/conv/trained.h"
#include "ops/families/conv/transposed.h"
#include "ops/families/move/trained.h"
#include "ops/families/quantized/inside.h"
#include "ops/families/quantized/quantized.h"
#include "ops/quantized_conv_transpose2d/dims.h"
#include "simd/int8.h"

#define THIMBLE_OP quantized_conv_transpose2d
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::quantized_conv_transpose2d_impl {
namespace {

Convolution convolution(const QuantizedConvTranspose2dAttrs& attrs, const Shape& weight) {
  return convolution_of(attrs, image_size(weight));
}

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  require_quantized(c, 0);
  require_quantized_weights(c, 1, 3);
  check_image(c, 0);
  c.require_rank(1, 4);
  const Shape& x = c.shape(0);
  check_window(c, convolution(c.attrs.as<QuantizedConvTranspose2dAttrs>(), c.shape(1)).window);
  const auto attrs = canonical_transpose(c.attrs.as<QuantizedConvTranspose2dAttrs>());
  const int64_t channels = grouped_channels(c, attrs.groups);
  check_weights(c, attrs.groups, x[3], channels, "input", "output");
  require_quantized_bias(c, 2, channels);
  const Window window = convolution(attrs, c.shape(1)).window;
  const Pair size = checked_transpose_size(c, attrs, window);
  ir::TensorType y = quantized_type(c, {x[0], size.h, size.w, channels}, result_of(attrs));
  require_channel_factors(c, c.shape(1)[3], attrs.scale);
  return {y};
}

ir::Params params(const ir::KernelContext& c) {
  const auto attrs = canonical_transpose(c.attrs.as<QuantizedConvTranspose2dAttrs>());
  const quantized_conv_transpose2d_dims d{
      conv_sizes(convolution(attrs, c.in(1)), c.in(0), c.out(), image_size(c.out())),
      zero_point_of(*c.inputs[0]), kernel_result(result_of(attrs))};
  const std::vector<quantized_factor> of_group =
      channel_factors(c, c.in(1)[3], attrs.scale, attrs.requantization);
  std::vector<quantized_factor> factors;
  for (int64_t g = 0; g < attrs.groups; ++g) {
    factors.insert(factors.end(), of_group.begin(), of_group.end());
  }
  return with_channels(d, factors);
}

const OpDef& inside_op();

// By the integers, as in conv_transpose2d.
std::vector<Value> vjp(const ir::VjpContext& c) {
  const auto attrs = canonical_transpose(c.attrs.as<QuantizedConvTranspose2dAttrs>());
  const Value x = c.input(0);
  const Value weight = c.input(1);
  const ir::Graph& graph = x.graph();
  const Value by_sum = times_channels(
      straight_through(c, inside_op()),
      sum_factors(graph.type(x.id()), graph.type(weight.id()), attrs.scale, c.output().shape()[3]),
      c.output());
  std::vector<Value> grads(3);
  if (c.need(1)) {
    const Value trained = trained_slices(x, 3, weight, attrs.groups == 1 ? 0 : -1);
    grads[1] = conv2d_weight_grad(by_sum, centered(trained),
                                  {.kernel = image_size(weight.shape()),
                                   .stride = attrs.stride,
                                   .padding = attrs.padding,
                                   .dilation = attrs.dilation,
                                   .groups = attrs.groups});
  }
  if (c.need(2)) grads[2] = sum_to(by_sum, c.input(2).shape());
  if (c.need(0)) {
    grads[0] = conv2d(by_sum, integers(weight), Value(),
                      {.stride = attrs.stride,
                       .padding = attrs.padding,
                       .dilation = attrs.dilation,
                       .groups = attrs.groups});
  }
  return grads;
}

void fast(int8_t* y, const int8_t* x, const int8_t* w, const int32_t* bias, void* workspace,
          const quantized_conv_transpose2d_dims* d, parallel::ThreadPool& pool) {
  if (!simd::int8_conv_fits(d->conv)) {
    return f32::quantized_conv_transpose2d_ref(y, x, w, bias, d);
  }
  simd::int8_conv_transpose(y, x, w, bias, workspace, d->conv,
                            {d->out, d->input_zero_point, QUANTIZED_FACTORS(d)}, pool);
}

const OpDef& quantized_conv_transpose2d_op() {
  static const OpDef def{
      .name = "quantized_conv_transpose2d",
      .signature{
          .doc = "Transposed 2-D convolution of int8 images, sized as in conv_transpose2d: y = "
                 "clamp(round(sum * scale of x * scale of weight / scale) + zero_point) with the "
                 "int32 sum of (x[n, h, w, c] - zero point of x) w[c, r, s, k] over all h, w, r, "
                 "s, c with p = h*stride + r*dilation - padding and likewise q, plus bias[k], "
                 "which saturates.",
          .example = "auto y = quantized_conv_transpose2d(x, weight, bias, {.stride = 2, .padding "
                     "= 1, .scale = 0.02});",
          .inputs = {{.name = "x",
                      .doc = "[N, H, W, C], i8 with one scale",
                      .batch_rank = 4,
                      .types = DType::i8},
                     {.name = "weight",
                      .doc = "[C, kh, kw, K / groups], i8 with one scale or one per index of "
                             "axis 3",
                      .types = DType::i8},
                     {.name = "bias", .doc = "[K]", .optional = true, .types = DType::i32}},
          .outputs = {{.name = "y", .doc = "[N, P, Q, K], i8 with one scale", .batch_rank = 4}},
          .attrs = ir::Attrs::schema_of<QuantizedConvTranspose2dAttrs>(),
      },
      .infer = infer,
      .gradient{.vjp = vjp},
      .kernels{
          .params = params,
          .workspace =
              [](const ir::Params& p, int threads) {
                return simd::int8_conv_transpose_workspace_bytes(
                    p.as<quantized_conv_transpose2d_dims>().conv, threads);
              },
          .flops = conv_transpose_flops,
          .ref = ir::kernel_fn<&f32::quantized_conv_transpose2d_ref>(),
          .ref64 = ir::kernel_fn<&f64::quantized_conv_transpose2d_ref>(),
          .fast = ir::kernel_fn<&fast>(),
          .any_type = true,
      },
      .integers{.bias_units =
                    [](const ir::KernelContext& c) {
                      return bias_units(*c.inputs[0], *c.inputs[1], c.out()[3]);
                    }},
      .layer =
          [](const ir::KernelContext& c) {
            return conv_transpose_parameters(c.attrs.as<QuantizedConvTranspose2dAttrs>().groups);
          },
  };
  return def;
}

const OpDef& inside_op() {
  static const OpDef def = ops::inside_op(
      quantized_conv_transpose2d_op(), "quantized_conv_transpose2d_inside", infer_inside<infer>,
      ir::kernel_fn<&f32::quantized_conv_transpose2d_inside_ref>(),
      ir::kernel_fn<&f64::quantized_conv_transpose2d_inside_ref>());
  return def;
}

}  // namespace
}  // namespace thimble::ops::quantized_conv_transpose2d_impl

THIMBLE_OP_FOLDER(quantized_conv_transpose2d) {
  static const OpDef* const defs[] = {&quantized_conv_transpose2d_op(), &inside_op()};
  return defs;
}

namespace thimble {

void describe(QuantizedConvTranspose2dAttrs& a, ir::FieldVisitor& v) {
  v.field("stride", a.stride, "the result is about this many times as large");
  v.field("padding", a.padding, "cells cut off the result");
  v.field("output_padding", a.output_padding, "rows and columns added below and to the right");
  v.field("dilation", a.dilation, "distance between neighbouring taps of the window");
  v.field("groups", a.groups, "equal runs that the channels are split into");
  v.field("activation", a.activation, "the bounds of the result");
  ops::describe_result(a, v);
}

Value quantized_conv_transpose2d(Value x, Value weight, Value bias,
                                 const QuantizedConvTranspose2dAttrs& attrs) {
  return x.graph().add1(ops::quantized_conv_transpose2d_impl::quantized_conv_transpose2d_op(),
                        ir::Attrs::of(attrs), {x, weight, bias});
}

}  // namespace thimble
