#include <thimble/ops/quantized_conv2d.h>

#include "ir/graph.h"
#include "ops/families/conv/conv.h"
#include "ops/families/quantized/quantized.h"
#include "ops/quantized_conv2d/dims.h"
#include "simd/int8.h"

#define THIMBLE_OP quantized_conv2d
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::quantized_conv2d_impl {
namespace {

Convolution convolution(const QuantizedConv2dAttrs& attrs, const Shape& weight) {
  return convolution_of(attrs, image_size(weight));
}

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const auto& attrs = c.attrs.as<QuantizedConv2dAttrs>();
  require_quantized(c, 0);
  require_quantized_weights(c, 1, 0);
  check_image(c, 0);
  c.require_rank(1, 4);
  const Shape& x = c.shape(0);
  const int64_t channels = c.shape(1)[0];
  check_weights(c, attrs.groups, channels, x[3], "output", "input");
  require_quantized_bias(c, 2, channels);
  const Window window = convolution(attrs, c.shape(1)).window;
  check_window(c, window);
  const Pair places = window_places(c, window, image_size(x));
  ir::TensorType y = quantized_type(c, {x[0], places.h, places.w, channels}, result_of(attrs));
  require_channel_factors(c, channels, attrs.scale);
  return {y};
}

ir::Params params(const ir::KernelContext& c) {
  const auto& attrs = c.attrs.as<QuantizedConv2dAttrs>();
  const quantized_conv2d_dims d{
      conv_sizes(convolution(attrs, c.in(1)), c.in(0), c.out(), image_size(c.in(0))),
      zero_point_of(*c.inputs[0]), kernel_result(result_of(attrs))};
  return with_channels(d, channel_factors(c, d.conv.k, attrs.scale));
}

void fast(int8_t* y, const int8_t* x, const int8_t* w, const int32_t* bias, void* workspace,
          const quantized_conv2d_dims* d, parallel::ThreadPool& pool) {
  if (!simd::int8_conv_fits(d->conv)) return f32::quantized_conv2d_ref(y, x, w, bias, d);
  simd::int8_conv(y, x, w, bias, workspace, d->conv,
                  {d->out, d->input_zero_point, QUANTIZED_FACTORS(d)}, pool);
}

const OpDef& quantized_conv2d_op() {
  static const OpDef def{
      .name = "quantized_conv2d",
      .signature{
          .doc = "2-D convolution of int8 images with int8 weights: y = clamp(round(sum * scale of "
                 "x * scale of weight[k] / scale) + zero_point) with the int32 sum over r, s, c of "
                 "(x[n, p*stride + r*dilation - padding, ..., c] - zero point of x) w[k, r, s, c] "
                 "+ bias[k], which saturates. groups = C is a depthwise convolution.",
          .example = "auto y = quantized_conv2d(x, weight, bias, {.padding = 1, .scale = 0.02});",
          .inputs = {{.name = "x",
                      .doc = "[N, H, W, C], i8 with one scale",
                      .batch_rank = 4,
                      .types = DType::i8},
                     {.name = "weight",
                      .doc = "[K, kh, kw, C / groups], i8 with one scale or one per output "
                             "channel",
                      .types = DType::i8},
                     {.name = "bias", .doc = "[K]", .optional = true, .types = DType::i32}},
          .outputs = {{.name = "y", .doc = "[N, P, Q, K], i8 with one scale", .batch_rank = 4}},
          .attrs = ir::Attrs::schema_of<QuantizedConv2dAttrs>(),
      },
      .infer = infer,
      .kernels{
          .params = params,
          .workspace =
              [](const ir::Params& p, int threads) {
                return simd::int8_conv_workspace_bytes(p.as<quantized_conv2d_dims>().conv, threads);
              },
          .flops = conv_flops,
          .ref = ir::kernel_fn<&f32::quantized_conv2d_ref>(),
          .ref64 = ir::kernel_fn<&f64::quantized_conv2d_ref>(),
          .fast = ir::kernel_fn<&fast>(),
          .any_type = true,
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::quantized_conv2d_impl

THIMBLE_OP_FOLDER(quantized_conv2d) {
  static const OpDef* const defs[] = {&quantized_conv2d_op()};
  return defs;
}

namespace thimble {

void describe(QuantizedConv2dAttrs& a, ir::FieldVisitor& v) {
  v.field("stride", a.stride, "places the window moves at a time");
  v.field("padding", a.padding, "cells that stand for 0 around the image");
  v.field("dilation", a.dilation, "distance between neighbouring taps of the window");
  v.field("groups", a.groups, "equal runs that the channels are split into");
  v.field("activation", a.activation, "the bounds of the result");
  ops::describe_result(a, v);
}

Value quantized_conv2d(Value x, Value weight, Value bias, const QuantizedConv2dAttrs& attrs) {
  return x.graph().add1(ops::quantized_conv2d_impl::quantized_conv2d_op(), ir::Attrs::of(attrs),
                        {x, weight, bias});
}

}  // namespace thimble
