#include <fmt/format.h>

#include "ir/graph.h"
#include "ops/families/conv/conv.h"
#include "ops/families/quantized/conv_gradients.h"
#include "ops/families/quantized/conv_micro_dims.h"
#include "ops/families/quantized/device_work.h"
#include "ops/families/quantized/masked.h"
#include "ops/families/quantized/quantized.h"
#include "ops/quantized_conv2d_input_grad/dims.h"
#include "simd/conv.h"
#include "simd/depthwise.h"

#define THIMBLE_OP quantized_conv2d_input_grad
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::quantized_conv2d_input_grad_impl {
namespace {

// Those of a dense layer are a window of one pixel.
Shape weight_shape(const Shape& weight) {
  return weight.rank() == 2 ? Shape{weight[0], 1, 1, weight[1]} : weight;
}

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const auto& attrs = c.attrs.as<Conv2dInputGradAttrs>();
  check_image(c, 0);
  require_quantized_weights(c, 1, 0);
  const Shape& dy = c.shape(0);
  if (c.shape(1).rank() != 2) c.require_rank(1, 4);
  const Shape weight = weight_shape(c.shape(1));
  const bool fits =
      attrs.groups >= 1 && weight[0] == dy[3] && weight[0] >= 1 && weight[0] % attrs.groups == 0;
  if (!fits || weight[3] < 1) {
    c.fail(
        fmt::format("expected a weight [{0}, kh, kw, C / groups] or [{0}, C] and groups that "
                    "divide its output channels",
                    dy[3]));
  }
  const int64_t channels = weight[3] * attrs.groups;
  const Window window = convolution_of(attrs, image_size(weight)).window;
  check_window(c, window);
  c.require(window_places(c, window, attrs.size) == image_size(dy),
            "expected dy to be as large as the convolution's result");
  return {{DType::f32, {dy[0], attrs.size.h, attrs.size.w, channels}}};
}

conv2d_input_grad_dims sizes(const Conv2dInputGradAttrs& attrs, const Shape& dy, const Shape& w,
                             const Shape& dx) {
  return conv_sizes(convolution_of(attrs, image_size(weight_shape(w))), dx, dy, attrs.size);
}

ir::Params params(const ir::KernelContext& c) {
  return sizes(c.attrs.as<Conv2dInputGradAttrs>(), c.in(0), c.in(1), c.out());
}

ir::DeviceLoop device_loop(const conv2d_input_grad_dims& d) {
  if (simd::is_depthwise(d)) {
    const bool keeps_size = d.stride_h == 1 && d.stride_w == 1 && d.h == d.p && d.w == d.q;
    // A channel is copied with an edge of zeros.
    const int64_t pitch = (int64_t{d.w} + 3) / 4 * 4 + d.s - 1;
    const bool fits = (int64_t{d.h} + d.r - 1) * pitch <= QUANTIZED_KEPT_NUMBERS;
    return keeps_size && !fits ? ir::DeviceLoop::plain_depthwise : ir::DeviceLoop::depthwise;
  }
  const bool is_pixel = d.r == 1 && d.s == 1 && d.stride_h == 1 && d.stride_w == 1 &&
                        d.groups == 1 && d.h == d.p && d.w == d.q;
  if (!is_pixel) return ir::DeviceLoop::plain;
  const bool is_few = int64_t{d.n} * d.h * d.w < QUANTIZED_MICRO_PIXELS;
  return is_few ? ir::DeviceLoop::rows : ir::DeviceLoop::tiles;
}

ir::DeviceWork device_work(const ir::Params& p) {
  const auto d = p.as<conv2d_input_grad_dims>();
  ir::DeviceWork work;
  work.add(device_loop(d), conv_products(d), double(d.n) * d.h * d.w * d.c);
  return work;
}

void fast(float* dx, const float* dy, const int8_t* w, void* workspace,
          const conv2d_input_grad_dims* d, parallel::ThreadPool& pool) {
  simd::conv_adjoint(dx, dy, w, workspace, *d, pool);
}

void fast_in_place(float* dx, const float* dy, const int8_t* w, void* workspace,
                   const conv2d_input_grad_dims* d, parallel::ThreadPool& pool) {
  if (dx == dy) return simd::conv_adjoint_in_place(dx, w, workspace, *d, pool);
  simd::conv_adjoint(dx, dy, w, workspace, *d, pool);
}

// Whether the kernel can compute in place.
bool fits_in_place(const conv2d_input_grad_dims& d) {
  const int64_t rows = int64_t{d.r - 1} * d.dilation_h - d.pad_top + 1;
  return d.groups > 1 && d.groups == d.c && d.c == d.k && d.stride_h == 1 && d.stride_w == 1 &&
         d.h == d.p && d.w == d.q && rows * d.q <= QUANTIZED_KEPT_NUMBERS;
}

const OpDef& input_grad_op() {
  static const OpDef def{
      .name = "quantized_conv2d_input_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradient of quantized_conv2d by the integers of its input, from that of its "
                 "sums: dx[n, h, w, c] = sum of dy[n, p, q, k] w[k, r, s, c] over all p, q, r, s, "
                 "k that read the pixel. It has the bits of conv2d_input_grad.",
          .inputs = {{.name = "dy", .doc = "[N, P, Q, K], f32", .types = DType::f32},
                     {.name = "weight",
                      .doc = "[K, kh, kw, C / groups], i8, or [K, C] of a dense layer",
                      .types = DType::i8}},
          .outputs = {{"dx", "[N, H, W, C], f32"}},
          .attrs = ir::Attrs::schema_of<Conv2dInputGradAttrs>(),
      },
      .infer = infer,
      .kernels{
          .params = params,
          .workspace =
              [](const ir::Params& p, int threads) {
                return simd::conv_adjoint_workspace_bytes(p.as<conv2d_input_grad_dims>(), threads);
              },
          .flops = conv_flops,
          .fast_flops = fast_conv_flops<simd::conv_adjoint_fast_flops>,
          .device_work = device_work,
          .ref = ir::kernel_fn<&f32::quantized_conv2d_input_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::quantized_conv2d_input_grad_ref>(),
          .fast = ir::kernel_fn<&fast>(),
          .any_type = true,
      },
  };
  return def;
}

const OpDef& masked_op() {
  static const OpDef def = [] {
    OpDef made = input_grad_op();
    made.name = "quantized_conv2d_input_grad_masked";
    made.is_gradient = false;  // a pass builds it, no gradient rule
    made.signature.doc =
        "quantized_conv2d_input_grad and then grad_by_bits at once: what the mask makes 0 need not "
        "be computed.";
    made.signature.inputs.push_back(
        {.name = "bits", .doc = "the shape of dx, boolean", .types = DType::boolean});
    made.infer = [](const ir::InferContext& c) {
      std::vector<ir::TensorType> types = infer(c);
      c.require(c.shape(2) == types[0].shape, "expected a bit for every element of dx");
      return types;
    };
    made.kernels.workspace = nullptr;
    made.kernels.ref = ir::kernel_fn<&f32::quantized_conv2d_input_grad_masked_ref>();
    made.kernels.ref64 = ir::kernel_fn<&f64::quantized_conv2d_input_grad_masked_ref>();
    made.kernels.fast = {};
    made.kernels.fast_flops = nullptr;
    // Bits of two samples may share a byte.
    made.flow.samples = [](const ir::SamplesContext&) { return ir::Samples::mixed; };
    return made;
  }();
  return def;
}

const OpDef& in_place_op() {
  static const OpDef def = [] {
    OpDef made = input_grad_op();
    made.name = "quantized_depthwise_input_grad";
    made.signature.doc =
        "quantized_conv2d_input_grad of a depthwise convolution of stride 1 whose image and result "
        "have one size: dx may lie where dy does.";
    made.infer = [](const ir::InferContext& c) {
      std::vector<ir::TensorType> types = infer(c);
      const auto& attrs = c.attrs.as<Conv2dInputGradAttrs>();
      c.require(fits_in_place(sizes(attrs, c.shape(0), c.shape(1), types[0].shape)),
                "expected a depthwise convolution of stride 1 that keeps the size of its image, "
                "with a window whose rows hold at most 256 pixels");
      return types;
    };
    made.kernels.workspace = [](const ir::Params& p, int threads) {
      const auto d = p.as<conv2d_input_grad_dims>();
      return std::max(simd::conv_adjoint_workspace_bytes(d, threads),
                      simd::conv_adjoint_in_place_workspace_bytes(d, threads));
    };
    made.kernels.ref = ir::kernel_fn<&f32::quantized_depthwise_input_grad_ref>();
    made.kernels.ref64 = ir::kernel_fn<&f64::quantized_depthwise_input_grad_ref>();
    made.kernels.fast = ir::kernel_fn<&fast_in_place>();
    made.memory.in_place = {{0, 0}};
    return made;
  }();
  return def;
}

}  // namespace
}  // namespace thimble::ops::quantized_conv2d_input_grad_impl

THIMBLE_OP_FOLDER(quantized_conv2d_input_grad) {
  static const OpDef* const defs[] = {&input_grad_op(), &in_place_op(), &masked_op()};
  return defs;
}

namespace thimble::ops {

MaskedGradient quantized_input_grad_masked() {
  namespace impl = quantized_conv2d_input_grad_impl;
  return {&impl::input_grad_op(), &impl::masked_op()};
}

const OpDef& quantized_input_grad_op() { return quantized_conv2d_input_grad_impl::input_grad_op(); }

const OpDef& quantized_depthwise_input_grad_op() {
  return quantized_conv2d_input_grad_impl::in_place_op();
}

Value quantized_input_grad(Value dy, Value weight, const Conv2dInputGradAttrs& attrs) {
  namespace impl = quantized_conv2d_input_grad_impl;
  const int64_t channels = impl::weight_shape(weight.shape())[3] * attrs.groups;
  const Shape dx{dy.shape()[0], attrs.size.h, attrs.size.w, channels};
  const bool in_place = impl::fits_in_place(impl::sizes(attrs, dy.shape(), weight.shape(), dx));
  return dy.graph().add1(in_place ? impl::in_place_op() : impl::input_grad_op(),
                         ir::Attrs::of(attrs), {dy, weight});
}

}  // namespace thimble::ops
