#include <thimble/ops/clip_gradient.h>

#include "ir/graph.h"
#include "ops/clip_gradient/dims.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP clip_gradient
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::clip_gradient_impl {

// In simd.cpp; shapes, layout and aliasing as in ref.h. workspace: sum_squares_workspace_bytes(d).
void sum_squares_simd(float* y, const float* x, const float* previous, void* workspace,
                      const clip_dims* d, parallel::ThreadPool& pool);
[[nodiscard]] int64_t sum_squares_workspace_bytes(const clip_dims& d);

void clip_by_norm_simd(float* y, const float* grad, const float* squares, const clip_dims* d,
                       parallel::ThreadPool& pool);

void clip_by_value_simd(float* y, const float* grad, const clip_dims* d,
                        parallel::ThreadPool& pool);

namespace {

ir::Params elements_of_first(const ir::KernelContext& c) {
  clip_dims d{};
  d.n = static_cast<int>(c.in(0).elements());
  return d;
}

const OpDef& sum_squares_op() {
  static const OpDef def{
      .name = "sum_squares",
      .signature{
          .doc = "The sum of the squares of all elements, y = previous + sum(x^2): the square of a "
                 "norm, of many tensors where chained.",
          .example = "auto squares = sum_squares(b, sum_squares(a));",
          .inputs = {{"x", "any shape"}, {"previous", "one number", true}},
          .outputs = {{"y", "one number"}},
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        if (c.has(1)) {
          c.require(c.shape(1).rank() == 0, "expected one number as the previous sum");
        }
        return {{DType::f32, {}}};
      },
      .kernels{
          .params = elements_of_first,
          .workspace = [](const ir::Params& params, int) -> int64_t {
            return sum_squares_workspace_bytes(params.as<clip_dims>());
          },
          .ref = ir::kernel_fn<&f32::sum_squares_ref>(),
          .ref64 = ir::kernel_fn<&f64::sum_squares_ref>(),
          .fast = ir::kernel_fn<&sum_squares_simd>(),
      },
  };
  return def;
}

const OpDef& clip_by_norm_op() {
  static const OpDef def{
      .name = "clip_by_norm",
      .signature{
          .doc = "Limits the norm of a gradient: y = grad * min(1, max_norm / (sqrt(squares) + "
                 "1e-6)), as torch.nn.utils.clip_grad_norm_ does.",
          .example = "auto y = clip_by_norm(grad, sum_squares(grad), {.max_norm = 1.0});",
          .inputs = {{"grad", "any shape"}, {"squares", "one number: the square of the norm"}},
          .outputs = {{"y", "the shape of grad"}},
          .attrs = ir::Attrs::schema_of<ClipByNormOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require(c.shape(1).rank() == 0, "expected one number as the square of the norm");
        c.require(c.attrs.as<ClipByNormOptions>().max_norm > 0.0, "max_norm must be above 0");
        return {c.input(0)};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            clip_dims d{};
            d.n = static_cast<int>(c.out().elements());
            d.limit = c.attrs.as<ClipByNormOptions>().max_norm;
            return d;
          },
          .ref = ir::kernel_fn<&f32::clip_by_norm_ref>(),
          .ref64 = ir::kernel_fn<&f64::clip_by_norm_ref>(),
          .fast = ir::kernel_fn<&clip_by_norm_simd>(),
      },
      .memory{.in_place = {{0, 0}}},
  };
  return def;
}

const OpDef& clip_by_value_op() {
  static const OpDef def{
      .name = "clip_by_value",
      .signature{
          .doc = "Limits every element of a gradient: y = min(max(grad, -limit), limit), as "
                 "torch.nn.utils.clip_grad_value_ does.",
          .example = "auto y = clip_by_value(grad, {.limit = 1.0});",
          .inputs = {{"grad", "any shape"}},
          .outputs = {{"y", "the shape of grad"}},
          .attrs = ir::Attrs::schema_of<ClipByValueOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require(c.attrs.as<ClipByValueOptions>().limit > 0.0, "limit must be above 0");
        return {c.input(0)};
      },
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            clip_dims d{};
            d.n = static_cast<int>(c.out().elements());
            d.limit = c.attrs.as<ClipByValueOptions>().limit;
            return d;
          },
          .ref = ir::kernel_fn<&f32::clip_by_value_ref>(),
          .ref64 = ir::kernel_fn<&f64::clip_by_value_ref>(),
          .fast = ir::kernel_fn<&clip_by_value_simd>(),
      },
      .memory{.in_place = {{0, 0}}},
      .flow{.elementwise = true},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::clip_gradient_impl

THIMBLE_OP_FOLDER(clip_gradient) {
  static const OpDef* const defs[] = {&sum_squares_op(), &clip_by_norm_op(), &clip_by_value_op()};
  return defs;
}

namespace thimble {

void describe(ClipByNormOptions& a, ir::FieldVisitor& v) {
  v.field("max_norm", a.max_norm, "the largest norm that is not scaled down");
}

void describe(ClipByValueOptions& a, ir::FieldVisitor& v) {
  v.field("limit", a.limit, "the largest magnitude that is not clipped");
}

Value sum_squares(Value x, Value previous) {
  return x.graph().add1(ops::clip_gradient_impl::sum_squares_op(), {}, {x, previous});
}

Value clip_by_norm(Value grad, Value squares, const ClipByNormOptions& options) {
  return grad.graph().add1(ops::clip_gradient_impl::clip_by_norm_op(), ir::Attrs::of(options),
                           {grad, squares});
}

Value clip_by_value(Value grad, const ClipByValueOptions& options) {
  return grad.graph().add1(ops::clip_gradient_impl::clip_by_value_op(), ir::Attrs::of(options),
                           {grad});
}

}  // namespace thimble
