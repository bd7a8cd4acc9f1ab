#include <thimble/ops/conv2d_weight_grad.h>

#include "ir/graph.h"
#include "ops/families/conv/conv.h"
#include "ops/families/conv/conv_kernel_dims.h"
#include "ops/families/conv/conv_kernels.h"
#include "simd/conv.h"

#define THIMBLE_OP conv2d_weight_grad
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::conv2d_weight_grad_impl {
namespace {

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const auto& attrs = c.attrs.as<Conv2dWeightGradAttrs>();
  return {weight_grad_type(c, convolution_of(attrs, attrs.kernel), attrs.whole_channels)};
}

ir::Params params(const ir::KernelContext& c) {
  const auto& attrs = c.attrs.as<Conv2dWeightGradAttrs>();
  conv2d_weight_grad_dims d =
      conv_sizes(convolution_of(attrs, attrs.kernel), c.in(0), c.in(1), image_size(c.in(0)));
  d.c_of = static_cast<int>(attrs.whole_channels);
  return d;
}

const OpDef& conv2d_weight_grad_op() {
  static const OpDef def{
      .name = "conv2d_weight_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradient of conv2d by its weights: dw[k, r, s, c] = sum over n, p, q of "
                 "dy[n, p, q, k] x[n, p*stride + r*dilation - padding, ..., c].",
          .inputs = {{"x", "[N, H, W, C]"}, {"dy", "[N, P, Q, K]"}},
          .outputs = {{"dw", "[K, kh, kw, C / groups]"}},
          .attrs = ir::Attrs::schema_of<Conv2dWeightGradAttrs>(),
      },
      .infer = infer,
      .kernels{
          .params = params,
          .workspace =
              [](const ir::Params& p, int threads) {
                return conv2d_weight_grad_workspace_bytes(p.as<conv2d_weight_grad_dims>(), threads);
              },
          .flops = conv_flops,
          .fast_flops = fast_conv_flops<simd::conv_weights_fast_flops>,
          .ref = ir::kernel_fn<&f32::conv2d_weight_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::conv2d_weight_grad_ref>(),
          .fast = ir::kernel_fn<&conv2d_weight_grad_simd>(),
          .row_blocks = [](const ir::KernelContext&) -> ir::RowBlocks {
            return {{0, 1}, {}};
          },
      },
      .memory{.part = {.rows =
                           [](const ir::Params& p) {
                             return simd::conv_weights_part_rows(p.as<conv2d_weight_grad_dims>());
                           },
                       .part =
                           [](void* params, int64_t first, int64_t count) {
                             auto& d = *static_cast<conv2d_weight_grad_dims*>(params);
                             d.k_first = static_cast<int>(first);
                             d.k_count = static_cast<int>(count);
                           }}},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::conv2d_weight_grad_impl

THIMBLE_OP_FOLDER(conv2d_weight_grad) {
  static const OpDef* const defs[] = {&conv2d_weight_grad_op()};
  return defs;
}

namespace thimble {

void describe(Conv2dWeightGradAttrs& a, ir::FieldVisitor& v) {
  v.field("kernel", a.kernel, "height and width of the convolution's weights");
  v.field("stride", a.stride, "of the convolution");
  v.field("padding", a.padding, "of the convolution");
  v.field("dilation", a.dilation, "of the convolution");
  v.field("groups", a.groups, "of the convolution");
  v.field("whole_channels", a.whole_channels,
          "input channels of the convolution, where x holds only some; 0: x holds all");
}

Value conv2d_weight_grad(Value x, Value dy, const Conv2dWeightGradAttrs& attrs) {
  return x.graph().add1(ops::conv2d_weight_grad_impl::conv2d_weight_grad_op(), ir::Attrs::of(attrs),
                        {x, dy});
}

}  // namespace thimble
