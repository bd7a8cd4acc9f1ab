#include <thimble/ops/normalize.h>

#include "ir/function_def.h"
#include "ir/graph.h"
#include "ops/families/reduction/axes.h"
#include "ops/normalize/dims.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP normalize
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::normalize_impl {

// In simd.cpp; shapes, layout and aliasing as in ref.h. y may be x.
void normalize_simd(float* y, float* norm, const float* x, const normalize_dims* d,
                    parallel::ThreadPool& pool);

// dx may be dy or y.
void normalize_grad_simd(float* dx, const float* dy, const float* y, const float* norm,
                         const normalize_dims* d, parallel::ThreadPool& pool);

namespace {

bool simple(const normalize_dims& d) { return d.along.inner == 1 && d.p == 2.0; }

void fast(float* y, float* norm, const float* x, const normalize_dims* d,
          parallel::ThreadPool& pool) {
  simple(*d) ? normalize_simd(y, norm, x, d, pool) : f32::normalize_ref(y, norm, x, d);
}

void grad_fast(float* dx, const float* dy, const float* y, const float* norm,
               const normalize_dims* d, parallel::ThreadPool& pool) {
  simple(*d) ? normalize_grad_simd(dx, dy, y, norm, d, pool)
             : f32::normalize_grad_ref(dx, dy, y, norm, d);
}

Shape norm_shape(const ir::InferContext& c) {
  const auto& options = c.attrs.as<NormalizeOptions>();
  c.require(options.p > 0.0 && options.p < 1e6, "expected p above 0 (and below 1e6)");
  c.require(options.epsilon >= 0.0, "expected an epsilon of at least 0");
  std::vector<int64_t> dims = c.shape(0).dims();
  dims.erase(dims.begin() + checked_axis(c, options.axis, c.shape(0).rank()));
  return Shape(std::move(dims));
}

ir::Params params(const ir::KernelContext& c) {
  const auto& options = c.attrs.as<NormalizeOptions>();
  normalize_dims d{};
  d.along = axis_dims_of(c.in(0), options.axis);
  // Empty vectors have norms, too.
  if (d.along.size == 0) d.along = {static_cast<int>(c.out(1).elements()), 0, 1};
  d.p = options.p;
  d.epsilon = options.epsilon;
  return d;
}

ir::Params grad_params(const ir::KernelContext& c) {
  const auto& options = c.attrs.as<NormalizeOptions>();
  return normalize_dims{axis_dims_of(c.in(0), options.axis), options.p, options.epsilon};
}

const OpDef& normalize_grad_op() {
  static const OpDef def{
      .name = "normalize_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradient of normalize, from its results: dx = (dy - sign(y) |y|^(p - 1) * "
                 "sum along the axis of dy y) / norm where norm > epsilon, else dy / epsilon.",
          .inputs = {{"dy", "any shape"}, {"y", "the shape of dy"}, {"norm", "one a vector"}},
          .outputs = {{"dx", "the shape of dy"}},
          .attrs = ir::Attrs::schema_of<NormalizeOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require(c.input(2) == ir::TensorType{DType::f32, norm_shape(c)},
                  "expected one norm a vector");
        c.require(c.input(0) == c.input(1), "expected dy of the type of y");
        return {c.input(0)};
      },
      .kernels{
          .params = grad_params,
          .ref = ir::kernel_fn<&f32::normalize_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::normalize_grad_ref>(),
          .fast = ir::kernel_fn<&grad_fast>(),
      },
      .memory{.in_place = {{0, 0}, {0, 1}}},
  };
  return def;
}

const OpDef& normalize_op() {
  static const OpDef def{
      .name = "normalize",
      .signature{
          .doc = "Vectors of length 1: y = x / max(||x||_p, epsilon) with norms along an axis. No "
                 "gradient flows through the norms as outputs.",
          .example = "auto y = normalize(x);",
          .inputs = {{"x", "any shape of at least one dimension"}},
          .outputs = {{"y", "the shape of x"}, {"norm", "x without the axis"}},
          .attrs = ir::Attrs::schema_of<NormalizeOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        return {c.input(0), {DType::f32, norm_shape(c)}};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        if (!c.grad()) return {};
        return {c.grad().graph().add1(normalize_grad_op(), c.attrs,
                                      {c.grad(), c.output(0), c.output(1)})};
      }},
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::normalize_ref>(),
          .ref64 = ir::kernel_fn<&f64::normalize_ref>(),
          .fast = ir::kernel_fn<&fast>(),
          .stay_f32 = {1},
      },
      .memory{.in_place = {{0, 0}}},
      .flow{.samples =
                [](const ir::SamplesContext& c) {
                  return samples_along(c, c.attrs.as<NormalizeOptions>().axis);
                }},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::normalize_impl

THIMBLE_OP_FOLDER(normalize) {
  static const OpDef* const defs[] = {&normalize_op(), &normalize_grad_op()};
  return defs;
}

namespace thimble {

void describe(NormalizeOptions& a, ir::FieldVisitor& v) {
  v.field("axis", a.axis, "along which norms are taken; negative counts from the last");
  v.field("p", a.p, "of the norm, above 0");
  v.field("epsilon", a.epsilon, "the least divisor");
}
Value normalize(Value x, const NormalizeOptions& options) {
  const Value inputs[] = {x};
  return x.graph().add(ops::normalize_impl::normalize_op(), ir::Attrs::of(options), inputs)[0];
}
}  // namespace thimble

THIMBLE_FUNCTION_FOLDER(normalize) {
  static const FunctionDef normalize_function{
      .name = "normalize",
      .doc = "Vectors of length 1: y = x / max(||x||_p, epsilon) with norms along an axis.",
      .inputs = {{"x", "any shape of at least one dimension"}},
      .outputs = {{"y", "the shape of x"}},
      .options = ir::OptionSchema::of<NormalizeOptions>(),
      .build = [](std::span<const Value> in, const void* options) -> std::vector<Value> {
        return {normalize(in[0], options_as<NormalizeOptions>(options))};
      },
  };
  static const FunctionDef* const defs[] = {&normalize_function};
  return defs;
}
