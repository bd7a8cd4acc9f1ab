#include <thimble/ops/average_pool2d.h>
#include <thimble/ops/quantized_average_pool2d.h>
#include <thimble/ops/reshape.h>

#include "ir/function_def.h"
#include "ir/graph.h"
#include "ops/families/pool/pool.h"
#include "ops/families/pool/pool_kernels.h"

#define THIMBLE_OP average_pool2d
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::average_pool2d_impl {
namespace {

std::vector<ir::TensorType> infer(const ir::InferContext& c) {
  check_image(c, 0);
  const Shape& x = c.shape(0);
  const auto& attrs = c.attrs.as<AveragePool2dAttrs>();
  c.require(attrs.divisor == static_cast<int32_t>(attrs.divisor),
            "expected a divisor that i32 holds, 0 for none");
  const Pair places = pool_places(c, pool_window(attrs), image_size(x), attrs.ceil_mode);
  return {{DType::f32, {x[0], places.h, places.w, x[3]}}};
}

std::vector<Value> vjp(const ir::VjpContext& c) {
  const auto& attrs = c.attrs.as<AveragePool2dAttrs>();
  return {average_pool2d_grad(c.grad(), {.size = image_size(c.input(0).shape()),
                                         .kernel = attrs.kernel,
                                         .stride = attrs.stride,
                                         .padding = attrs.padding,
                                         .count_include_pad = attrs.count_include_pad,
                                         .ceil_mode = attrs.ceil_mode,
                                         .divisor = attrs.divisor})};
}

std::vector<Value> quantized(const ir::QuantizeContext& c) {
  const auto& attrs = c.attrs.as<AveragePool2dAttrs>();
  if (attrs.divisor != 0) throw Error("average_pool2d", "int8 has no divisor of its own");
  return {quantized_average_pool2d(c.input(0), {.kernel = attrs.kernel,
                                                .stride = attrs.stride,
                                                .padding = attrs.padding,
                                                .count_include_pad = attrs.count_include_pad,
                                                .ceil_mode = attrs.ceil_mode,
                                                .requantization = c.requantization})};
}

const OpDef& average_pool2d_op() {
  static const OpDef def{
      .name = "average_pool2d",
      .signature{
          .doc = "The mean of every window: y[n, p, q, c] = sum over r, s of x[n, p*stride + r - "
                 "padding, ..., c] / count.",
          .example = "auto y = average_pool2d(x, {.kernel = 2});",
          .inputs = {{.name = "x", .doc = "[N, H, W, C]", .batch_rank = 4}},
          .outputs = {{.name = "y", .doc = "[N, P, Q, C]", .batch_rank = 4}},
          .attrs = ir::Attrs::schema_of<AveragePool2dAttrs>(),
      },
      .infer = infer,
      .gradient{.vjp = vjp},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            const auto& attrs = c.attrs.as<AveragePool2dAttrs>();
            pool_dims d = pool_sizes(pool_window(attrs), c.in(0), c.out());
            d.count_include_pad = attrs.count_include_pad ? 1 : 0;
            d.divisor = static_cast<int>(attrs.divisor);
            return d;
          },
          .ref = ir::kernel_fn<&f32::average_pool2d_ref>(),
          .ref64 = ir::kernel_fn<&f64::average_pool2d_ref>(),
          .fast = ir::kernel_fn<&average_pool2d_simd>(),
          .row_blocks = [](const ir::KernelContext&) -> ir::RowBlocks {
            return {{0}, {0}};
          },
      },
      .quantized{.build = quantized},
  };
  return def;
}

std::vector<ir::TensorType> infer_grad(const ir::InferContext& c) {
  const auto& attrs = c.attrs.as<AveragePool2dGradAttrs>();
  check_image(c, 0);
  const Shape& dy = c.shape(0);
  c.require(pool_places(c, pool_window(attrs), attrs.size, attrs.ceil_mode) == image_size(dy),
            "expected dy to be as large as the pooling's result");
  return {{DType::f32, {dy[0], attrs.size.h, attrs.size.w, dy[3]}}};
}

const OpDef& grad_op() {
  static const OpDef def{
      .name = "average_pool2d_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradient of average_pool2d: dx[n, h, w, c] = sum of dy[n, p, q, c] / count "
                 "over the windows (p, q) that cover (h, w).",
          .inputs = {{"dy", "[N, P, Q, C]"}},
          .outputs = {{"dx", "[N, H, W, C]"}},
          .attrs = ir::Attrs::schema_of<AveragePool2dGradAttrs>(),
      },
      .infer = infer_grad,
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            const auto& attrs = c.attrs.as<AveragePool2dGradAttrs>();
            pool_dims d = pool_sizes(pool_window(attrs), c.out(), c.in(0));
            d.count_include_pad = attrs.count_include_pad ? 1 : 0;
            d.divisor = static_cast<int>(attrs.divisor);
            return d;
          },
          .ref = ir::kernel_fn<&f32::average_pool2d_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::average_pool2d_grad_ref>(),
          .fast = ir::kernel_fn<&average_pool2d_grad_simd>(),
          .row_blocks = [](const ir::KernelContext&) -> ir::RowBlocks {
            return {{0}, {0}};
          },
      },
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::average_pool2d_impl

THIMBLE_OP_FOLDER(average_pool2d) {
  static const OpDef* const defs[] = {&average_pool2d_op(), &grad_op()};
  return defs;
}

namespace thimble {

void describe(AveragePool2dAttrs& a, ir::FieldVisitor& v) {
  v.field("kernel", a.kernel, "size of the window");
  v.field("stride", a.stride, "places the window moves at a time; 0: its size");
  v.field("padding", a.padding, "zeros around the image");
  v.field("count_include_pad", a.count_include_pad, "divide by the whole window");
  v.field("ceil_mode", a.ceil_mode, "a last window that reaches beyond the padding counts, too");
  v.field("divisor", a.divisor, "divide by this; 0: by the cells");
}

void describe(AveragePool2dGradAttrs& a, ir::FieldVisitor& v) {
  v.field("size", a.size, "height and width of the pooling's input");
  v.field("kernel", a.kernel, "of the pooling");
  v.field("stride", a.stride, "of the pooling");
  v.field("padding", a.padding, "of the pooling");
  v.field("count_include_pad", a.count_include_pad, "of the pooling");
  v.field("ceil_mode", a.ceil_mode, "of the pooling");
  v.field("divisor", a.divisor, "of the pooling");
}

Value average_pool2d(Value x, const AveragePool2dAttrs& attrs) {
  return x.graph().add1(ops::average_pool2d_impl::average_pool2d_op(), ir::Attrs::of(attrs), {x});
}

Value global_average_pool2d(Value x) {
  if (x.shape().rank() != 4) {
    throw Error("global_average_pool2d",
                "expected images [N, H, W, C], got " + to_string(x.shape()));
  }
  const ir::LayerScope layer(x.graph(), "global_average_pool2d", "");
  const Value pooled = average_pool2d(x, {.kernel = ops::image_size(x.shape())});
  return reshape(pooled, {pooled.shape()[0], pooled.shape()[3]});
}

Value average_pool2d_grad(Value dy, const AveragePool2dGradAttrs& attrs) {
  return dy.graph().add1(ops::average_pool2d_impl::grad_op(), ir::Attrs::of(attrs), {dy});
}

}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(average_pool2d) {
  static const FunctionDef global_average_pool2d_function{
      .name = "global_average_pool2d",
      .doc = "The mean of every channel of an image.",
      .example = "auto features = global_average_pool2d(images);",
      .inputs = {{.name = "x", .doc = "[N, H, W, C]", .batch_rank = 4}},
      .outputs = {{.name = "y", .doc = "[N, C]", .batch_rank = 2}},
      .build = [](std::span<const Value> in, const void* /*options*/) -> std::vector<Value> {
        return {global_average_pool2d(in[0])};
      },
  };
  static const FunctionDef* const defs[] = {&global_average_pool2d_function};
  return defs;
}
