#include <thimble/ops/glu.h>

#include "ir/graph.h"
#include "ops/families/reduction/axes.h"
#include "parallel/thread_pool.h"

#define THIMBLE_OP glu
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::glu_impl {

// The fast kernel, in simd.cpp; shapes, layout and aliasing as in ref.h.
void glu_simd(float* y, const float* x, const axis_dims* d, parallel::ThreadPool& pool);
void glu_grad_simd(float* dx, const float* dy, const float* x, const axis_dims* d,
                   parallel::ThreadPool& pool);
void swiglu_simd(float* y, const float* x, const axis_dims* d, parallel::ThreadPool& pool);
void swiglu_grad_simd(float* dx, const float* dy, const float* x, const axis_dims* d,
                      parallel::ThreadPool& pool);
void geglu_simd(float* y, const float* x, const axis_dims* d, parallel::ThreadPool& pool);
void geglu_grad_simd(float* dx, const float* dy, const float* x, const axis_dims* d,
                     parallel::ThreadPool& pool);

namespace {

Shape half_of(const ir::InferContext& c, int x) {
  const int axis = checked_axis(c, c.attrs.as<GluOptions>().axis, c.shape(x).rank());
  c.require(c.shape(x)[axis] % 2 == 0, "expected an axis of even size");
  std::vector<int64_t> dims = c.shape(x).dims();
  dims[static_cast<size_t>(axis)] /= 2;
  return Shape(std::move(dims));
}

ir::Params params_of(const ir::KernelContext& c, const Shape& x) {
  const axis_dims along = axis_dims_of(x, c.attrs.as<GluOptions>().axis);
  return axis_dims{along.outer, 2, along.size / 2 * along.inner};
}

// Completes the definition of the gradient; the caller sets name and kernels.
OpDef gate_grad(OpDef def) {
  def.signature.doc = "The gradient of the gated linear unit it is named after.";
  def.signature.inputs = {{"dy", "x with half of the axis"}, {"x", "any shape"}};
  def.signature.outputs = {{"dx", "the shape of x"}};
  def.signature.attrs = ir::Attrs::schema_of<GluOptions>();
  def.infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
    c.require(c.input(0) == ir::TensorType{DType::f32, half_of(c, 1)},
              "expected dy of the shape of the result");
    return {c.input(1)};
  };
  def.kernels.params = [](const ir::KernelContext& c) { return params_of(c, c.in(1)); };
  return def;
}

// Completes the definition of the op; the caller sets name, doc, example, vjp and kernels.
OpDef gate(OpDef def) {
  def.signature.inputs = {{"x", "any shape with an axis of even size"}};
  def.signature.outputs = {{"y", "x with half of the axis"}};
  def.signature.attrs = ir::Attrs::schema_of<GluOptions>();
  def.infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
    return {{DType::f32, half_of(c, 0)}};
  };
  def.kernels.params = [](const ir::KernelContext& c) { return params_of(c, c.in(0)); };
  return def;
}

#define GATE(op, formula)                                                                  \
  const OpDef& op##_grad_op() {                                                            \
    static const OpDef def = gate_grad({                                                   \
        .name = #op "_grad",                                                               \
        .is_gradient = true,                                                               \
        .kernels{                                                                          \
            .ref = ir::kernel_fn<&f32::op##_grad_ref>(),                                   \
            .ref64 = ir::kernel_fn<&f64::op##_grad_ref>(),                                 \
            .fast = ir::kernel_fn<&op##_grad_simd>(),                                      \
        },                                                                                 \
    });                                                                                    \
    return def;                                                                            \
  }                                                                                        \
  const OpDef& op##_op() {                                                                 \
    static const OpDef def = gate({                                                        \
        .name = #op,                                                                       \
        .signature{                                                                        \
            .doc = "Gated linear unit of the halves a and b of an axis: y = " formula ".", \
            .example = "auto y = " #op "(dense(x, {.units = 2 * units}));",                \
        },                                                                                 \
        .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {               \
          return {c.grad().graph().add1(op##_grad_op(), c.attrs, {c.grad(), c.input(0)})}; \
        }},                                                                                \
        .kernels{                                                                          \
            .ref = ir::kernel_fn<&f32::op##_ref>(),                                        \
            .ref64 = ir::kernel_fn<&f64::op##_ref>(),                                      \
            .fast = ir::kernel_fn<&op##_simd>(),                                           \
        },                                                                                 \
    });                                                                                    \
    return def;                                                                            \
  }

GATE(glu, "a * sigmoid(b)")
GATE(swiglu, "a * sigmoid(a) * b")
GATE(geglu, "a * Phi(a) * b, Phi the normal distribution function")

}  // namespace
}  // namespace thimble::ops::glu_impl

THIMBLE_OP_FOLDER(glu) {
  static const OpDef* const defs[] = {&glu_op(),         &glu_grad_op(), &swiglu_op(),
                                      &swiglu_grad_op(), &geglu_op(),    &geglu_grad_op()};
  return defs;
}

namespace thimble {

void describe(GluOptions& a, ir::FieldVisitor& v) {
  v.field("axis", a.axis, "whose halves are a and b; negative counts from the last");
}

Value glu(Value x, const GluOptions& options) {
  return x.graph().add1(ops::glu_impl::glu_op(), ir::Attrs::of(options), {x});
}
Value swiglu(Value x, const GluOptions& options) {
  return x.graph().add1(ops::glu_impl::swiglu_op(), ir::Attrs::of(options), {x});
}
Value geglu(Value x, const GluOptions& options) {
  return x.graph().add1(ops::glu_impl::geglu_op(), ir::Attrs::of(options), {x});
}

}  // namespace thimble
