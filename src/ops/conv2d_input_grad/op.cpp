#include <thimble/ops/conv2d_input_grad.h>

#include "ir/graph.h"
#include "ops/families/conv/conv.h"
#include "ops/families/conv/conv_kernel_dims.h"
#include "ops/families/conv/conv_kernels.h"
#include "simd/conv.h"

#define THIMBLE_OP conv2d_input_grad
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::conv2d_input_grad_impl {
namespace {

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  const auto& attrs = c.attrs.as<Conv2dInputGradAttrs>();
  check_image(c, 0);
  c.require_rank(1, 4);
  const Shape& dy = c.shape(0);
  const int64_t channels = grouped_channels(c, attrs.groups);
  check_weights(c, attrs.groups, dy[3], channels, "output", "input");
  check_bias(c, channels);
  const Window window = convolution_of(attrs, image_size(c.shape(1))).window;
  check_window(c, window);
  c.require(window_places(c, window, attrs.size) == image_size(dy),
            "expected dy to be as large as the convolution's result");
  return {{DType::f32, {dy[0], attrs.size.h, attrs.size.w, channels}}};
}

ir::Params params(const ir::KernelContext& c) {
  const auto& attrs = c.attrs.as<Conv2dInputGradAttrs>();
  // The sizes of the convolution, whose input has the shape of the output here.
  return conv_sizes(convolution_of(attrs, image_size(c.in(1))), c.out(), c.in(0), attrs.size);
}

const OpDef& conv2d_input_grad_op() {
  static const OpDef def{
      .name = "conv2d_input_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradient of conv2d by its input: dx[n, h, w, c] = sum of dy[n, p, q, k] w[k, "
                 "r, s, c] over all p, q, r, s, k that read the pixel.",
          .inputs = {{"dy", "[N, P, Q, K]"},
                     {"weight", "[K, kh, kw, C / groups]"},
                     {"bias", "[C], added to every pixel", true}},
          .outputs = {{"dx", "[N, H, W, C]"}},
          .attrs = ir::Attrs::schema_of<Conv2dInputGradAttrs>(),
      },
      .infer = infer,
      .kernels{
          .params = params,
          .workspace =
              [](const ir::Params& p, int threads) {
                return conv2d_input_grad_workspace_bytes(p.as<conv2d_input_grad_dims>(), threads);
              },
          .flops = conv_flops,
          .fast_flops = fast_conv_flops<simd::conv_adjoint_fast_flops>,
          .ref = ir::kernel_fn<&f32::conv2d_input_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::conv2d_input_grad_ref>(),
          .fast = ir::kernel_fn<&conv2d_input_grad_simd>(),
          .row_blocks = [](const ir::KernelContext&) -> ir::RowBlocks {
            return {{0}, {0}};
          },
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::conv2d_input_grad_impl

THIMBLE_OP_FOLDER(conv2d_input_grad) {
  static const OpDef* const defs[] = {&conv2d_input_grad_op()};
  return defs;
}

namespace thimble {

void describe(Conv2dInputGradAttrs& a, ir::FieldVisitor& v) {
  v.field("size", a.size, "height and width of the convolution's input");
  v.field("stride", a.stride, "of the convolution");
  v.field("padding", a.padding, "of the convolution");
  v.field("dilation", a.dilation, "of the convolution");
  v.field("groups", a.groups, "of the convolution");
}

Value conv2d_input_grad(Value dy, Value weight, const Conv2dInputGradAttrs& attrs) {
  return dy.graph().add1(ops::conv2d_input_grad_impl::conv2d_input_grad_op(), ir::Attrs::of(attrs),
                         {dy, weight});
}

}  // namespace thimble
