#include "ir/graph.h"
#include "ops/families/conv/conv.h"
#include "ops/families/quantized/conv_gradients.h"
#include "ops/families/quantized/device_work.h"
#include "ops/families/quantized/int8_errors.h"
#include "ops/int8_error_grad/dims.h"
#include "ops/quantized_conv2d_weight_grad/dims.h"
#include "simd/int8_errors.h"
#include "simd/workspace.h"

#define THIMBLE_OP int8_error_grad
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::int8_error_grad_impl {
namespace {

// Checks the inputs that all ops have, of which the error is the first; bits, waiting: the places
// of optional inputs, waiting -1 where the op has none.
void check_error(const ir::InferContext& c, int error, int bits) {
  const Shape& e = c.shape(error);
  c.require(c.input(error).quantization == nullptr, "expected e to be i8 without a scale");
  c.require(e.rank() >= 1 && c.shape(error + 1).rank() == 0, "expected e [..., K] and one scale");
  const Shape& factors = c.shape(error + 2);
  c.require(factors == Shape{e[-1]} || factors == Shape{1},
            "expected a factor for every channel of e, or one");
  c.require(!c.has(bits) || c.shape(bits) == e, "expected a bit for every element of e");
}

void check_waiting(const ir::InferContext& c, int waiting, const Shape& dx) {
  c.require(c.has(waiting) == c.has(waiting + 1), "expected waiting and its scale, or neither");
  if (!c.has(waiting)) return;
  const bool fits = c.shape(waiting) == dx && c.input(waiting).quantization == nullptr;
  c.require(fits, "expected waiting to be i8 without a scale, of the shape of dx");
  c.require(c.shape(waiting + 1).rank() == 0, "expected one scale of waiting");
}

std::vector<ir::TensorType> stored(const Shape& dx) { return {{DType::i8, dx}, {DType::f32, {}}}; }

int factor_step(const ir::KernelContext& c, int error) {
  return c.in(error)[-1] != 1 && c.in(error + 2)[0] == 1 ? 0 : 1;
}

// The gradient of the sums as these ops read it: that of the f32 ops whose checks and sizes they
// share.
ir::TensorType f32_like(const Shape& e) { return {DType::f32, e}; }

std::vector<ir::TensorType> infer_input_grad(const ir::InferContext& c) {
  check_error(c, 0, 4);
  const ir::TensorType dy = f32_like(c.shape(0));
  const ir::TensorType* const inputs[] = {&dy, &c.input(3)};
  const Shape dx = ir::infer_types(quantized_input_grad_op(), c.attrs, inputs)[0].shape;
  check_waiting(c, 5, dx);
  return stored(dx);
}

ir::Params input_grad_params(const ir::KernelContext& c) {
  const ir::TensorType dy = f32_like(c.in(0));
  const ir::TensorType dx = f32_like(c.out());
  const ir::TensorType* const inputs[] = {&dy, c.inputs[3]};
  const ir::Params of_f32 = quantized_input_grad_op().kernels.params({c.attrs, inputs, {&dx, 1}});
  return int8_error_conv_dims{of_f32.as<conv_dims>(), factor_step(c, 0), 0};
}

std::vector<ir::TensorType> infer_weight_grad(const ir::InferContext& c) {
  check_error(c, 1, 4);
  const ir::TensorType dy = f32_like(c.shape(1));
  const ir::TensorType* const inputs[] = {&c.input(0), &dy};
  return ir::infer_types(quantized_weight_grad_op(), c.attrs, inputs);
}

ir::Params weight_grad_params(const ir::KernelContext& c) {
  const ir::TensorType dy = f32_like(c.in(1));
  const ir::TensorType dw = f32_like(c.out());
  const ir::TensorType* const inputs[] = {c.inputs[0], &dy};
  const ir::Params of_f32 = quantized_weight_grad_op().kernels.params({c.attrs, inputs, {&dw, 1}});
  const auto d = of_f32.as<quantized_conv2d_weight_grad_dims>();
  return int8_error_conv_dims{d.conv, factor_step(c, 1), d.zero_point};
}

ir::Params error_params(const ir::KernelContext& c) {
  const int64_t channels = c.in(0)[-1];
  const int64_t rows = channels > 0 ? c.in(0).elements() / channels : 0;
  return int8_error_dims{static_cast<int>(rows), static_cast<int>(channels), factor_step(c, 0)};
}

// What the fast kernels read in the place of factors, in the front of their workspace.
struct FastFactors {
  int16_t* multipliers;  // [k]; none by channel
  float* units;          // [k], padded to whole vectors
};

FastFactors carve_factors(simd::Workspace& own, const conv_dims& d) {
  constexpr int64_t kLanes = 64;
  FastFactors made{};
  made.multipliers = own.take<int16_t>(d.k);
  made.units = own.take<float>(simd::round_up(d.k, kLanes));
  return made;
}

int64_t with_factors(const conv_dims& d, int64_t bytes) {
  simd::Workspace counter(nullptr);
  carve_factors(counter, d);
  return counter.bytes() + bytes;
}

// units[i] = scale * factor of channel i
void scale_factors(float* units, const float* scale, const float* factors, int n, int step) {
  for (int i = 0; i < n; ++i) units[i] = *scale * factors[i * step];
}

// Whether the fast kernel's sums of a channel, which are int32, may overflow.
bool has_huge_window(const conv_dims& d) {
  return simd::int8_errors_by_channel(d) && int64_t{d.r} * d.s > INT8_ERROR_WINDOW;
}

void fast_input_grad(int8_t* dx, float* dx_scale, const int8_t* e, const float* scale,
                     const float* factors, const int8_t* w, const uint8_t* bits,
                     const int8_t* waiting, const float* waiting_scale, void* workspace,
                     const int8_error_conv_dims* d, parallel::ThreadPool& pool) {
  if (has_huge_window(d->conv)) {
    f32::int8_error_input_grad_ref(dx, dx_scale, e, scale, factors, w, bits, waiting, waiting_scale,
                                   d);
    return;
  }
  simd::Workspace own(workspace);
  const FastFactors fast = carve_factors(own, d->conv);
  if (simd::int8_errors_by_channel(d->conv)) {
    scale_factors(fast.units, scale, factors, d->conv.k, d->factor_step);
  } else {
    const float most = f32::int8_error_most_factor(factors, d->factor_step == 0 ? 1 : d->conv.k);
    f32::int8_error_multipliers(fast.multipliers, factors, d->factor_step, most, d->conv.k);
    fast.units[0] = f32::int8_error_folded_unit(*scale, most);
  }
  *dx_scale = simd::int8_error_inputs(dx, {e, bits}, fast.multipliers, fast.units, w, waiting,
                                      waiting == nullptr ? 0.0F : *waiting_scale,
                                      static_cast<char*>(workspace) + own.used(), d->conv, pool);
}

void fast_weight_grad(float* dw, const int8_t* x, const int8_t* e, const float* scale,
                      const float* factors, const uint8_t* bits, void* workspace,
                      const int8_error_conv_dims* d, parallel::ThreadPool& pool) {
  simd::Workspace own(workspace);
  const FastFactors fast = carve_factors(own, d->conv);
  scale_factors(fast.units, scale, factors, d->conv.k, d->factor_step);
  simd::int8_error_weights(dw, x, d->zero_point, {e, bits}, fast.units,
                           static_cast<char*>(workspace) + own.used(), d->conv, pool);
}

// Units of the gradients of biases and of scaled numbers, which are read as whole vectors.
int64_t padded_channels(const int8_error_dims& d) { return simd::round_up(d.channels, 64); }

int64_t bias_workspace(const ir::Params& p, int /*threads*/) {
  simd::Workspace counter(nullptr);
  counter.take<float>(padded_channels(p.as<int8_error_dims>()));
  return counter.bytes();
}

void fast_bias_grad(float* dbias, const int8_t* e, const float* scale, const float* factors,
                    const uint8_t* bits, void* workspace, const int8_error_dims* d,
                    parallel::ThreadPool& pool) {
  auto* const units = simd::Workspace(workspace).take<float>(padded_channels(*d));
  scale_factors(units, scale, factors, d->channels, d->factor_step);
  simd::int8_error_sums_of_rows(dbias, {e, bits}, units, d->rows, d->channels, pool);
}

int64_t scale_workspace(const ir::Params& p, int threads) {
  const auto d = p.as<int8_error_dims>();
  const int64_t n = int64_t{d.rows} * d.channels;
  return bias_workspace(p, threads) + simd::int8_error_elements_workspace_bytes(n);
}

void fast_scale(int8_t* dx, float* dx_scale, const int8_t* e, const float* scale,
                const float* factors, const uint8_t* bits, const int8_t* waiting,
                const float* waiting_scale, void* workspace, const int8_error_dims* d,
                parallel::ThreadPool& pool) {
  simd::Workspace own(workspace);
  auto* const units = own.take<float>(padded_channels(*d));
  const bool is_one = d->factor_step == 0;
  const int channels = is_one ? 1 : d->channels;
  const int64_t rows = int64_t{d->rows} * (is_one ? d->channels : 1);
  scale_factors(units, scale, factors, channels, d->factor_step);
  *dx_scale = simd::int8_error_scaled(
      dx, {e, bits}, units, waiting, waiting == nullptr ? 0.0F : *waiting_scale,
      static_cast<char*>(workspace) + own.used(), rows, channels, pool);
}

double flops_of(const ir::Params& p) {
  return 2.0 * conv_products(p.as<int8_error_conv_dims>().conv);
}

// Every number is computed twice. A product of a tile counts as 1.7 of those of f32, with what
// packs the errors and rounds the results, and one of a depthwise channel with an edge, in which
// zeros lie, as 0.3 of those of plain loops.
ir::DeviceWork input_grad_work(const ir::Params& p) {
  const conv_dims d = p.as<int8_error_conv_dims>().conv;
  const double products = 2.0 * conv_products(d);
  ir::DeviceWork work;
  if (f32::int8_error_is_pixel(&d)) {
    work.add(ir::DeviceLoop::tiles, 1.7 * products, 1.0);
  } else if (f32::int8_error_has_plane(&d)) {
    work.add(ir::DeviceLoop::plain_depthwise, 0.3 * products, 1.0);
  } else {
    const bool is_depthwise = d.groups == d.c && d.groups == d.k;
    work.add(is_depthwise ? ir::DeviceLoop::plain_depthwise : ir::DeviceLoop::plain, products,
             2.0 * d.n * d.h * d.w * d.c);
  }
  return work;
}

ir::DeviceWork weight_grad_work(const ir::Params& p) {
  const conv_dims d = p.as<int8_error_conv_dims>().conv;
  const bool is_depthwise = d.groups == d.c && d.groups == d.k;
  const bool has_tiles = f32::int8_error_is_pixel(&d) && d.c % 4 == 0;
  ir::DeviceLoop loop = has_tiles ? ir::DeviceLoop::rows : ir::DeviceLoop::plain;
  if (is_depthwise) loop = ir::DeviceLoop::plain_depthwise;
  ir::DeviceWork work;
  work.add(loop, conv_products(d), has_tiles ? 1.0 : double(d.k) * d.r * d.s * (d.c / d.groups));
  return work;
}

// An element takes about as long as a product of a depthwise layer; runs: how often it is read.
template <int runs>
ir::DeviceWork elements_work(const ir::Params& p) {
  const auto d = p.as<int8_error_dims>();
  const double elements = double(d.rows) * d.channels;
  ir::DeviceWork work;
  work.add(ir::DeviceLoop::plain_depthwise, runs * elements,
           runs == 1 ? d.channels : runs * elements);
  return work;
}

ir::Samples mixed(const ir::SamplesContext& /*c*/) { return ir::Samples::mixed; }

const ir::ArgDoc kError{.name = "e", .doc = "[N, ..., K], i8", .types = DType::i8};
const ir::ArgDoc kScale{.name = "scale", .doc = "of e, one number, f32", .types = DType::f32};
const ir::ArgDoc kFactors{.name = "factors", .doc = "[K] or [1], f32", .types = DType::f32};
const ir::ArgDoc kBits{
    .name = "bits", .doc = "the shape of e, boolean", .optional = true, .types = DType::boolean};
const ir::ArgDoc kWaiting{
    .name = "waiting", .doc = "the shape of dx, i8", .optional = true, .types = DType::i8};
const ir::ArgDoc kWaitingScale{.name = "waiting_scale",
                               .doc = "of waiting, one number, f32",
                               .optional = true,
                               .types = DType::f32};

#define INT8_ERROR_SUMS                                                                        \
  "The gradient of the layer's sums is e * scale * factor of the channel, or 0 where the bit " \
  "is not set."

const OpDef& input_op() {
  static const OpDef def{
      .name = "int8_error_input_grad",
      .signature{
          .doc = "quantized_conv2d_input_grad from an error of int8 to one of int8: dx_scale = "
                 "largest |v| / 127, dx = v / dx_scale to the nearest integer, where v is the "
                 "gradient by the input, plus waiting * waiting_scale. It is computed twice, so "
                 "that neither error is ever f32 as a whole. Sums are those of integers: e times "
                 "factor is rounded to int16, except of depthwise layers. " INT8_ERROR_SUMS,
          .inputs = {kError,
                     kScale,
                     kFactors,
                     {.name = "weight",
                      .doc = "[K, kh, kw, C / groups], i8, or [K, C] of a dense layer",
                      .types = DType::i8},
                     kBits,
                     kWaiting,
                     kWaitingScale},
          .outputs = {{"dx", "[N, H, W, C], i8"}, {"dx_scale", "one number, f32"}},
          .attrs = ir::Attrs::schema_of<Conv2dInputGradAttrs>(),
      },
      .infer = infer_input_grad,
      .kernels{
          .params = input_grad_params,
          .workspace =
              [](const ir::Params& p, int threads) {
                const conv_dims d = p.as<int8_error_conv_dims>().conv;
                return with_factors(d, simd::int8_error_inputs_workspace_bytes(d, threads));
              },
          .flops = [](const ir::Params& p) { return 2.0 * flops_of(p); },
          .device_work = input_grad_work,
          .ref = ir::kernel_fn<&f32::int8_error_input_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::int8_error_input_grad_ref>(),
          .fast = ir::kernel_fn<&fast_input_grad>(),
          .any_type = true,
      },
      .memory{.in_place = {{0, 5}}},
      .flow{.samples = mixed},
  };
  return def;
}

const OpDef& weight_op() {
  static const OpDef def{
      .name = "int8_error_weight_grad",
      .signature{
          .doc =
              "quantized_conv2d_weight_grad from an error of int8: exact sums of integers, times "
              "scale and factor. " INT8_ERROR_SUMS,
          .inputs = {{.name = "x", .doc = "[N, H, W, C], i8 with one scale", .types = DType::i8},
                     kError,
                     kScale,
                     kFactors,
                     kBits},
          .outputs = {{"dw", "[K, kh, kw, C / groups], f32"}},
          .attrs = ir::Attrs::schema_of<Conv2dWeightGradAttrs>(),
      },
      .infer = infer_weight_grad,
      .kernels{
          .params = weight_grad_params,
          .workspace =
              [](const ir::Params& p, int threads) {
                const conv_dims d = p.as<int8_error_conv_dims>().conv;
                return with_factors(d, simd::int8_error_weights_workspace_bytes(d, threads));
              },
          .flops = flops_of,
          .device_work = weight_grad_work,
          .ref = ir::kernel_fn<&f32::int8_error_weight_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::int8_error_weight_grad_ref>(),
          .fast = ir::kernel_fn<&fast_weight_grad>(),
          .any_type = true,
      },
      .flow{.samples = mixed},
  };
  return def;
}

const OpDef& bias_op() {
  static const OpDef def{
      .name = "int8_error_bias_grad",
      .signature{
          .doc = "The gradient of the bias of a quantized layer from an error of int8: that of the "
                 "sums, summed over all but the last axis. " INT8_ERROR_SUMS,
          .inputs = {kError, kScale, kFactors, kBits},
          .outputs = {{"dbias", "[K]"}},
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        check_error(c, 0, 3);
        return {{DType::f32, {c.shape(0)[-1]}}};
      },
      .kernels{
          .params = error_params,
          .workspace = bias_workspace,
          .device_work = elements_work<1>,
          .ref = ir::kernel_fn<&f32::int8_error_bias_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::int8_error_bias_grad_ref>(),
          .fast = ir::kernel_fn<&fast_bias_grad>(),
          .any_type = true,
      },
      .flow{.samples = mixed},
  };
  return def;
}

const OpDef& scale_op() {
  static const OpDef def{
      .name = "int8_error_scale",
      .signature{
          .doc = "int8_error_input_grad where a layer multiplies every number by 1, such as "
                 "quantized_add. " INT8_ERROR_SUMS,
          .inputs = {kError, kScale, kFactors, kBits, kWaiting, kWaitingScale},
          .outputs = {{"dx", "the shape of e, i8"}, {"dx_scale", "one number, f32"}},
      },
      .infer =
          [](const ir::InferContext& c) {
            check_error(c, 0, 3);
            check_waiting(c, 4, c.shape(0));
            return stored(c.shape(0));
          },
      .kernels{
          .params = error_params,
          .workspace = scale_workspace,
          .device_work = elements_work<2>,
          .ref = ir::kernel_fn<&f32::int8_error_scale_ref>(),
          .ref64 = ir::kernel_fn<&f64::int8_error_scale_ref>(),
          .fast = ir::kernel_fn<&fast_scale>(),
          .any_type = true,
      },
      .memory{.in_place = {{0, 0}, {0, 4}}},
      .flow{.samples = mixed},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::int8_error_grad_impl

namespace thimble::ops {

Int8ErrorGradients int8_error_gradients() {
  namespace impl = int8_error_grad_impl;
  return {&impl::input_op(), &impl::weight_op(), &impl::bias_op(), &impl::scale_op()};
}

}  // namespace thimble::ops

THIMBLE_OP_FOLDER(int8_error_grad) {
  static const OpDef* const defs[] = {&input_op(), &weight_op(), &bias_op(), &scale_op()};
  return defs;
}
