#include "ir/graph.h"
#include "ops/families/conv/conv.h"
#include "ops/families/quantized/conv_gradients.h"
#include "ops/families/quantized/device_work.h"
#include "ops/families/quantized/quantized.h"
#include "ops/quantized_conv2d_weight_grad/dims.h"
#include "ops/quantized_conv2d_weight_grad/kernel.h"
#include "simd/depthwise.h"

#define THIMBLE_OP quantized_conv2d_weight_grad
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::quantized_conv2d_weight_grad_impl {
namespace {

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const auto& attrs = c.attrs.as<Conv2dWeightGradAttrs>();
  require_quantized(c, 0);
  return {weight_grad_type(c, convolution_of(attrs, attrs.kernel), attrs.whole_channels)};
}

ir::Params params(const ir::KernelContext& c) {
  const auto& attrs = c.attrs.as<Conv2dWeightGradAttrs>();
  quantized_conv2d_weight_grad_dims d{
      conv_sizes(convolution_of(attrs, attrs.kernel), c.in(0), c.in(1), image_size(c.in(0))),
      zero_point_of(*c.inputs[0])};
  d.conv.c_of = static_cast<int>(attrs.whole_channels);
  return d;
}

ir::DeviceWork device_work(const ir::Params& p) {
  constexpr int kLeastTaps = 9;  // of a row of the window, so that few are left beside tiles
  const conv_dims d = p.as<quantized_conv2d_weight_grad_dims>().conv;
  const bool has_tiles = d.groups == 1 && d.dilation_w == 1 && d.k >= 4 && d.s * d.c >= kLeastTaps;
  auto loop = ir::DeviceLoop::plain;
  if (simd::is_depthwise(d)) {
    loop = ir::DeviceLoop::plain_depthwise;
  } else if (has_tiles) {
    // A row of a window at a time.
    loop = d.r * d.s == 1 ? ir::DeviceLoop::tiles : ir::DeviceLoop::rows;
  }
  ir::DeviceWork work;
  work.add(loop, conv_products(d), double(d.k) * d.r * d.s * (d.c / d.groups));
  return work;
}

const OpDef& weight_grad_op() {
  static const OpDef def{
      .name = "quantized_conv2d_weight_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradient of quantized_conv2d by the integers of its weights, from that of "
                 "its sums: dw[k, r, s, c] = sum over n, p, q of dy[n, p, q, k] (x[n, p*stride + "
                 "r*dilation - padding, ..., c] - zero point of x). It has the bits of "
                 "conv2d_weight_grad.",
          .inputs = {{.name = "x", .doc = "[N, H, W, C], i8 with one scale", .types = DType::i8},
                     {.name = "dy", .doc = "[N, P, Q, K], f32", .types = DType::f32}},
          .outputs = {{"dw", "[K, kh, kw, C / groups], f32"}},
          .attrs = ir::Attrs::schema_of<Conv2dWeightGradAttrs>(),
      },
      .infer = infer,
      .kernels{
          .params = params,
          .workspace =
              [](const ir::Params& p, int threads) {
                return weight_grad_workspace_bytes(p.as<quantized_conv2d_weight_grad_dims>(),
                                                   threads);
              },
          .flops = conv_flops,
          .device_work = device_work,
          .ref = ir::kernel_fn<&f32::quantized_conv2d_weight_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::quantized_conv2d_weight_grad_ref>(),
          .fast = ir::kernel_fn<&weight_grad_simd>(),
          .any_type = true,
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::quantized_conv2d_weight_grad_impl

THIMBLE_OP_FOLDER(quantized_conv2d_weight_grad) {
  static const OpDef* const defs[] = {&weight_grad_op()};
  return defs;
}

namespace thimble::ops {

const OpDef& quantized_weight_grad_op() {
  return quantized_conv2d_weight_grad_impl::weight_grad_op();
}

Value quantized_weight_grad(Value x, Value dy, const Conv2dWeightGradAttrs& attrs) {
  return x.graph().add1(quantized_conv2d_weight_grad_impl::weight_grad_op(), ir::Attrs::of(attrs),
                        {x, dy});
}

}  // namespace thimble::ops
