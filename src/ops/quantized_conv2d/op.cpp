#include <thimble/ops/quantized_conv2d.h>
#include <thimble/ops/sum_to.h>

#include "ir/graph.h"
#include "ops/families/conv/conv.h"
#include "ops/families/conv/trained.h"
#include "ops/families/quantized/by_rows.h"
#include "ops/families/quantized/conv_gradients.h"
#include "ops/families/quantized/device_work.h"
#include "ops/families/quantized/inside.h"
#include "ops/families/quantized/masked.h"
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
  return with_channels(d, channel_factors(c, d.conv.k, attrs.scale, attrs.requantization));
}

template <bool has_mask>
ir::DeviceWork device_work(const ir::Params& p) {
  ir::DeviceWork work;
  add_convolution(work, p.as<quantized_conv2d_dims>(), has_mask);
  return work;
}

void fast(int8_t* y, const int8_t* x, const int8_t* w, const int32_t* bias, void* workspace,
          const quantized_conv2d_dims* d, parallel::ThreadPool& pool) {
  if (!simd::int8_conv_fits(d->conv)) return f32::quantized_conv2d_ref(y, x, w, bias, d);
  simd::int8_conv(y, x, w, bias, workspace, d->conv,
                  {d->out, d->input_zero_point, QUANTIZED_FACTORS(d)}, pool);
}

simd::Int8Result int8_result(const quantized_conv2d_dims* d) {
  return {d->out, d->input_zero_point, QUANTIZED_FACTORS(d)};
}

void prepare(int8_t* form, const int8_t* /*x*/, const int8_t* w, const int32_t* bias,
             const quantized_conv2d_dims* d, parallel::ThreadPool& pool) {
  simd::int8_conv_prepare(form, w, bias, d->conv, int8_result(d), pool);
}

void fast_prepared(int8_t* y, const int8_t* x, const int8_t* form, const int32_t* /*bias*/,
                   void* workspace, const quantized_conv2d_dims* d, parallel::ThreadPool& pool) {
  simd::int8_conv_prepared(y, x, form, workspace, d->conv, int8_result(d), pool);
}

const ir::PreparedWeights& prepared_weights() {
  static const ir::PreparedWeights rule{
      .inputs = {1, 2},
      .bytes =
          [](const ir::Params& p) {
            return simd::int8_conv_prepared_bytes(p.as<quantized_conv2d_dims>().conv);
          },
      .prepare = ir::kernel_fn<&prepare>(),
      .kernel = ir::kernel_fn<&fast_prepared>(),
      .workspace =
          [](const ir::Params& p, int threads) {
            return simd::int8_conv_prepared_workspace_bytes(p.as<quantized_conv2d_dims>().conv,
                                                            threads);
          },
  };
  return rule;
}

int64_t results_of(const conv_dims& d) { return int64_t{d.n} * d.p * d.q * d.k; }

void masked(int8_t* y, uint8_t* bits, int8_t* results, const int8_t* x, const int8_t* w,
            const int32_t* bias, void* workspace, const quantized_conv2d_dims* d,
            parallel::ThreadPool& pool) {
  const conv_dims& c = d->conv;
  if (!simd::int8_conv_fits(c)) return f32::quantized_conv2d_masked_ref(y, bits, x, w, bias, d);
  const quantized_factor* const factors = QUANTIZED_FACTORS(d);
  const auto run = [&](int8_t* to, const quantized_result& out) {
    simd::int8_conv(to, x, w, bias, workspace, c, {out, d->input_zero_point, factors}, pool);
  };
  const auto exact = [&](int64_t i) {
    const auto k = static_cast<int>(i % c.k);
    const auto q = static_cast<int>(i / c.k % c.q);
    const int64_t row = i / c.k / c.q;
    const int32_t sum = f32::quantized_conv2d_sum(x, w, bias, d, static_cast<int>(row / c.p),
                                                  static_cast<int>(row % c.p), q, k);
    return quantized_unbounded(sum, &factors[k], &d->out);
  };
  inside::result_and_bits(y, bits, results, results_of(c), d->out, pool, run, exact);
}

// The workspace: results of a run, and of a mask alone those of the op; then that of the op.
void fast_masked(int8_t* y, uint8_t* bits, const int8_t* x, const int8_t* w, const int32_t* bias,
                 void* workspace, const quantized_conv2d_dims* d, parallel::ThreadPool& pool) {
  auto* const results = static_cast<int8_t*>(workspace);
  masked(y, bits, results, x, w, bias, results + inside::result_bytes(results_of(d->conv)), d,
         pool);
}

void fast_inside(uint8_t* bits, const int8_t* x, const int8_t* w, const int32_t* bias,
                 void* workspace, const quantized_conv2d_dims* d, parallel::ThreadPool& pool) {
  auto* const y = static_cast<int8_t*>(workspace);
  fast_masked(y, bits, x, w, bias, y + inside::result_bytes(results_of(d->conv)), d, pool);
}

const OpDef& inside_op();

// By the integers: those of x and weight are convolved as in conv2d.
std::vector<Value> vjp(const ir::VjpContext& c) {
  const auto& attrs = c.attrs.as<QuantizedConv2dAttrs>();
  const Value x = c.input(0);
  const Value weight = c.input(1);
  const ir::Graph& graph = x.graph();
  const Value by_sum = times_channels(
      straight_through(c, inside_op()),
      sum_factors(graph.type(x.id()), graph.type(weight.id()), attrs.scale, weight.shape()[0]),
      c.output());
  std::vector<Value> grads(3);
  if (c.need(1)) {
    const TrainedChannels trained = trained_channels(x, by_sum, weight, attrs.groups);
    grads[1] = quantized_weight_grad(trained.x, trained.dy,
                                     {.kernel = image_size(weight.shape()),
                                      .stride = attrs.stride,
                                      .padding = attrs.padding,
                                      .dilation = attrs.dilation,
                                      .groups = trained.groups,
                                      .whole_channels = trained.whole_channels});
  }
  if (c.need(2)) grads[2] = sum_to(by_sum, c.input(2).shape());
  if (c.need(0)) {
    grads[0] = quantized_input_grad(by_sum, weight,
                                    {.size = image_size(x.shape()),
                                     .stride = attrs.stride,
                                     .padding = attrs.padding,
                                     .dilation = attrs.dilation,
                                     .groups = attrs.groups});
  }
  return grads;
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
      .gradient{.vjp = vjp},
      .kernels{
          .params = params,
          .workspace =
              [](const ir::Params& p, int threads) {
                return simd::int8_conv_workspace_bytes(p.as<quantized_conv2d_dims>().conv, threads);
              },
          .flops = conv_flops,
          .device_work = device_work<false>,
          .ref = ir::kernel_fn<&f32::quantized_conv2d_ref>(),
          .ref64 = ir::kernel_fn<&f64::quantized_conv2d_ref>(),
          .fast = ir::kernel_fn<&fast>(),
          .prepared = &prepared_weights(),
          .any_type = true,
      },
      .integers{.bias_units =
                    [](const ir::KernelContext& c) {
                      return bias_units(*c.inputs[0], *c.inputs[1], c.in(1)[0]);
                    }},
      .layer =
          [](const ir::KernelContext& c) {
            return conv_parameters(c, c.attrs.as<QuantizedConv2dAttrs>().groups);
          },
  };
  return def;
}

const OpDef& inside_op() {
  static const OpDef def = [] {
    OpDef made =
        ops::inside_op(quantized_conv2d_op(), "quantized_conv2d_inside", infer_inside<infer>,
                       ir::kernel_fn<&f32::quantized_conv2d_inside_ref>(),
                       ir::kernel_fn<&f64::quantized_conv2d_inside_ref>());
    made.kernels.workspace = [](const ir::Params& p, int threads) {
      const auto d = p.as<quantized_conv2d_dims>().conv;
      return 2 * inside::result_bytes(results_of(d)) + simd::int8_conv_workspace_bytes(d, threads);
    };
    made.kernels.device_work = device_work<true>;
    made.kernels.fast = ir::kernel_fn<&fast_inside>();
    return made;
  }();
  return def;
}

const OpDef& masked_op() {
  static const OpDef def = [] {
    OpDef made = ops::masked_op(
        {&quantized_conv2d_op(), &inside_op(), nullptr}, "quantized_conv2d_masked",
        [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
          const ir::TensorType y = infer(c)[0];
          return {y, {DType::boolean, y.shape}};
        },
        ir::kernel_fn<&f32::quantized_conv2d_masked_ref>(),
        ir::kernel_fn<&f64::quantized_conv2d_masked_ref>(), ir::kernel_fn<&fast_masked>());
    made.kernels.workspace = [](const ir::Params& p, int threads) {
      const auto d = p.as<quantized_conv2d_dims>().conv;
      return inside::result_bytes(results_of(d)) + simd::int8_conv_workspace_bytes(d, threads);
    };
    return made;
  }();
  return def;
}

}  // namespace
}  // namespace thimble::ops::quantized_conv2d_impl

namespace thimble::ops {

const OpDef& quantized_convolution() { return quantized_conv2d_impl::quantized_conv2d_op(); }

MaskedOp quantized_conv2d_masked() {
  namespace impl = quantized_conv2d_impl;
  return {&impl::quantized_conv2d_op(), &impl::inside_op(), &impl::masked_op()};
}

}  // namespace thimble::ops

THIMBLE_OP_FOLDER(quantized_conv2d) {
  static const OpDef* const defs[] = {&quantized_conv2d_op(), &inside_op(), &masked_op()};
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
