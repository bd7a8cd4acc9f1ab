#include <thimble/ops/matmul.h>
#include <thimble/ops/quantized_dense.h>
#include <thimble/ops/reshape.h>
#include <thimble/ops/sum_to.h>

#include <fmt/format.h>

#include "ir/graph.h"
#include "ops/families/move/trained.h"
#include "ops/families/quantized/conv_gradients.h"
#include "ops/families/quantized/device_work.h"
#include "ops/families/quantized/inside.h"
#include "ops/families/quantized/masked.h"
#include "ops/families/quantized/quantized.h"
#include "ops/quantized_dense/dims.h"
#include "simd/int8.h"

#define THIMBLE_OP quantized_dense
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::quantized_dense_impl {
namespace {

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const auto& attrs = c.attrs.as<QuantizedDenseAttrs>();
  require_quantized(c, 0);
  require_quantized_weights(c, 1, 0);
  c.require_rank(1, 2);
  const Shape& x = c.shape(0);
  const Shape& weight = c.shape(1);
  c.require(x.rank() >= 1, "expected x [N, ..., features]");
  if (weight[1] != x[-1]) {
    c.fail(fmt::format("expected a weight [units, {}], one column for each feature", x[-1]));
  }
  require_quantized_bias(c, 2, weight[0]);
  std::vector<int64_t> dims = x.dims();
  dims.back() = weight[0];
  ir::TensorType y = quantized_type(c, Shape(std::move(dims)), result_of(attrs));
  require_channel_factors(c, weight[0], attrs.scale);
  return {y};
}

ir::Params params(const ir::KernelContext& c) {
  const auto& attrs = c.attrs.as<QuantizedDenseAttrs>();
  const Shape& weight = c.in(1);
  const int64_t features = weight[1];
  const int64_t rows = weight[0] > 0 ? c.out().elements() / weight[0] : 0;
  const quantized_dense_dims d{static_cast<int>(rows), static_cast<int>(weight[0]),
                               static_cast<int>(features), zero_point_of(*c.inputs[0]),
                               kernel_result(result_of(attrs))};
  std::vector<quantized_factor> factors;
  for (int64_t u = 0; u < weight[0]; ++u) {
    factors.push_back(
        kernel_factor(dense_factor(scale_of(*c.inputs[0]), channel_scale(*c.inputs[1], u),
                                   static_cast<float>(attrs.scale), attrs.requantization),
                      attrs.requantization));
  }
  return with_channels(d, factors);
}

// The layer as a convolution of one pixel a row.
conv_dims as_convolution(const quantized_dense_dims& d) {
  conv_dims c{};
  c.n = c.h = c.p = c.r = c.s = 1;
  c.w = c.q = d.rows;
  c.c = d.features;
  c.k = d.units;
  c.stride_h = c.stride_w = c.dilation_h = c.dilation_w = c.groups = 1;
  return c;
}

template <bool has_mask>
ir::DeviceWork device_work(const ir::Params& p) {
  const auto d = p.as<quantized_dense_dims>();
  ir::DeviceWork work;
  add_convolution(work, {as_convolution(d), d.input_zero_point, d.out}, has_mask);
  return work;
}

void fast(int8_t* y, const int8_t* x, const int8_t* w, const int32_t* bias, void* workspace,
          const quantized_dense_dims* d, parallel::ThreadPool& pool) {
  const conv_dims convolution = as_convolution(*d);
  if (!simd::int8_conv_fits(convolution)) return f32::quantized_dense_ref(y, x, w, bias, d);
  simd::int8_conv(y, x, w, bias, workspace, convolution,
                  {d->out, d->input_zero_point, QUANTIZED_FACTORS(d)}, pool);
}

simd::Int8Result int8_result(const quantized_dense_dims* d) {
  return {d->out, d->input_zero_point, QUANTIZED_FACTORS(d)};
}

void prepare(int8_t* form, const int8_t* /*x*/, const int8_t* w, const int32_t* bias,
             const quantized_dense_dims* d, parallel::ThreadPool& pool) {
  simd::int8_conv_prepare(form, w, bias, as_convolution(*d), int8_result(d), pool);
}

void fast_prepared(int8_t* y, const int8_t* x, const int8_t* form, const int32_t* /*bias*/,
                   void* workspace, const quantized_dense_dims* d, parallel::ThreadPool& pool) {
  simd::int8_conv_prepared(y, x, form, workspace, as_convolution(*d), int8_result(d), pool);
}

const ir::PreparedWeights& prepared_weights() {
  static const ir::PreparedWeights rule{
      .inputs = {1, 2},
      .bytes =
          [](const ir::Params& p) {
            return simd::int8_conv_prepared_bytes(as_convolution(p.as<quantized_dense_dims>()));
          },
      .prepare = ir::kernel_fn<&prepare>(),
      .kernel = ir::kernel_fn<&fast_prepared>(),
      .workspace =
          [](const ir::Params& p, int threads) {
            return simd::int8_conv_prepared_workspace_bytes(
                as_convolution(p.as<quantized_dense_dims>()), threads);
          },
  };
  return rule;
}

int64_t results_of(const quantized_dense_dims& d) { return int64_t{d.rows} * d.units; }

void masked(int8_t* y, uint8_t* bits, int8_t* results, const int8_t* x, const int8_t* w,
            const int32_t* bias, void* workspace, const quantized_dense_dims* d,
            parallel::ThreadPool& pool) {
  const conv_dims c = as_convolution(*d);
  if (!simd::int8_conv_fits(c)) return f32::quantized_dense_masked_ref(y, bits, x, w, bias, d);
  const quantized_factor* const factors = QUANTIZED_FACTORS(d);
  const auto run = [&](int8_t* to, const quantized_result& out) {
    simd::int8_conv(to, x, w, bias, workspace, c, {out, d->input_zero_point, factors}, pool);
  };
  const auto exact = [&](int64_t i) {
    const auto u = static_cast<int>(i % d->units);
    const int32_t sum = f32::quantized_dense_sum(x + i / d->units * d->features, w, bias, d, u);
    return quantized_unbounded(sum, &factors[u], &d->out);
  };
  inside::result_and_bits(y, bits, results, results_of(*d), d->out, pool, run, exact);
}

// The workspace: results of a run, and of a mask alone those of the op; then that of the op.
void fast_masked(int8_t* y, uint8_t* bits, const int8_t* x, const int8_t* w, const int32_t* bias,
                 void* workspace, const quantized_dense_dims* d, parallel::ThreadPool& pool) {
  auto* const results = static_cast<int8_t*>(workspace);
  masked(y, bits, results, x, w, bias, results + inside::result_bytes(results_of(*d)), d, pool);
}

void fast_inside(uint8_t* bits, const int8_t* x, const int8_t* w, const int32_t* bias,
                 void* workspace, const quantized_dense_dims* d, parallel::ThreadPool& pool) {
  auto* const y = static_cast<int8_t*>(workspace);
  fast_masked(y, bits, x, w, bias, y + inside::result_bytes(results_of(*d)), d, pool);
}

const OpDef& inside_op();

// By the integers, of which x and weight are a matrix product.
std::vector<Value> vjp(const ir::VjpContext& c) {
  const auto& attrs = c.attrs.as<QuantizedDenseAttrs>();
  const Value x = c.input(0);
  const Value weight = c.input(1);
  const ir::Graph& graph = x.graph();
  const int64_t units = weight.shape()[0];
  const std::vector<double> factors =
      sum_factors(graph.type(x.id()), graph.type(weight.id()), attrs.scale, units);
  const Value masked = straight_through(c, inside_op());
  int64_t rows = 1;
  for (int axis = 0; axis + 1 < x.shape().rank(); ++axis) rows *= x.shape()[axis];
  const Value by_sum = times_channels(reshape(masked, {rows, units}), factors, c.output());
  std::vector<Value> grads(3);
  if (c.need(1)) {
    const Value trained = trained_slices(x, x.shape().rank() - 1, weight, 1);
    grads[1] = matmul(by_sum, reshape(centered(trained), {rows, trained.shape()[-1]}),
                      {.transpose_a = true});
  }
  if (c.need(2)) grads[2] = sum_to(by_sum, c.input(2).shape());
  if (c.need(0)) {
    // Every row is an image of one pixel.
    const Value dx =
        quantized_input_grad(reshape(by_sum, {rows, 1, 1, units}), weight, {.size = {1, 1}});
    grads[0] = reshape(dx, x.shape());
  }
  return grads;
}

const OpDef& quantized_dense_op() {
  static const OpDef def{
      .name = "quantized_dense",
      .signature{
          .doc = "A fully connected layer on int8, over the last dimension: y = clamp(round(sum * "
                 "scale of x * scale of weight[u] / scale) + zero_point) with the int32 sum over c "
                 "of (x[.., c] - zero point of x) weight[u, c] + bias[u], which saturates.",
          .example = "auto y = quantized_dense(x, weight, bias, {.scale = 0.1});",
          .inputs = {{.name = "x",
                      .doc = "[N, ..., features], i8 with one scale",
                      .types = DType::i8},
                     {.name = "weight",
                      .doc = "[units, features], i8 with one scale or one per unit",
                      .types = DType::i8},
                     {.name = "bias", .doc = "[units]", .optional = true, .types = DType::i32}},
          .outputs = {{"y", "[N, ..., units], i8 with one scale"}},
          .attrs = ir::Attrs::schema_of<QuantizedDenseAttrs>(),
      },
      .infer = infer,
      .gradient{.vjp = vjp},
      .kernels{
          .params = params,
          .workspace =
              [](const ir::Params& p, int threads) {
                const conv_dims c = as_convolution(p.as<quantized_dense_dims>());
                return simd::int8_conv_workspace_bytes(c, threads);
              },
          .flops =
              [](const ir::Params& p) {
                const auto d = p.as<quantized_dense_dims>();
                return 2.0 * d.rows * d.units * d.features;
              },
          .device_work = device_work<false>,
          .ref = ir::kernel_fn<&f32::quantized_dense_ref>(),
          .ref64 = ir::kernel_fn<&f64::quantized_dense_ref>(),
          .fast = ir::kernel_fn<&fast>(),
          .prepared = &prepared_weights(),
          .any_type = true,
      },
      .flow{.row_wise = [](const ir::KernelContext&) { return true; }},
      .integers{.bias_units =
                    [](const ir::KernelContext& c) {
                      return bias_units(*c.inputs[0], *c.inputs[1], c.in(1)[0]);
                    }},
      .layer = [](const ir::KernelContext&) -> std::optional<ir::LayerParameters> {
        return ir::LayerParameters{.weight = 1, .bias = 2, .input_channels = 1};
      },
  };
  return def;
}

const OpDef& inside_op() {
  static const OpDef def = [] {
    OpDef made = ops::inside_op(quantized_dense_op(), "quantized_dense_inside", infer_inside<infer>,
                                ir::kernel_fn<&f32::quantized_dense_inside_ref>(),
                                ir::kernel_fn<&f64::quantized_dense_inside_ref>());
    made.kernels.workspace = [](const ir::Params& p, int threads) {
      const auto d = p.as<quantized_dense_dims>();
      return 2 * inside::result_bytes(results_of(d)) +
             simd::int8_conv_workspace_bytes(as_convolution(d), threads);
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
        {&quantized_dense_op(), &inside_op(), nullptr}, "quantized_dense_masked",
        [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
          const ir::TensorType y = infer(c)[0];
          return {y, {DType::boolean, y.shape}};
        },
        ir::kernel_fn<&f32::quantized_dense_masked_ref>(),
        ir::kernel_fn<&f64::quantized_dense_masked_ref>(), ir::kernel_fn<&fast_masked>());
    made.kernels.workspace = [](const ir::Params& p, int threads) {
      const auto d = p.as<quantized_dense_dims>();
      return inside::result_bytes(results_of(d)) +
             simd::int8_conv_workspace_bytes(as_convolution(d), threads);
    };
    return made;
  }();
  return def;
}

}  // namespace
}  // namespace thimble::ops::quantized_dense_impl

namespace thimble::ops {

MaskedOp quantized_dense_masked() {
  namespace impl = quantized_dense_impl;
  return {&impl::quantized_dense_op(), &impl::inside_op(), &impl::masked_op()};
}

}  // namespace thimble::ops

THIMBLE_OP_FOLDER(quantized_dense) {
  static const OpDef* const defs[] = {&quantized_dense_op(), &inside_op(), &masked_op()};
  return defs;
}

namespace thimble {

void describe(QuantizedDenseAttrs& a, ir::FieldVisitor& v) {
  v.field("activation", a.activation, "the bounds of the result");
  ops::describe_result(a, v);
}

Value quantized_dense(Value x, Value weight, Value bias, const QuantizedDenseAttrs& attrs) {
  return x.graph().add1(ops::quantized_dense_impl::quantized_dense_op(), ir::Attrs::of(attrs),
                        {x, weight, bias});
}

}  // namespace thimble
