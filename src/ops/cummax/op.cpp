#include <thimble/ops/cummax.h>
#include <thimble/ops/scatter_add.h>

#include "ir/graph.h"
#include "ops/families/conv/row_tasks.h"
#include "ops/families/reduction/axes.h"

#define THIMBLE_OP cummax
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::cummax_impl {
namespace {

using Part = void (*)(float*, int32_t*, const float*, ptrdiff_t, const axis_dims*);

template <Part part>
void fast(float* values, int32_t* indices, const float* x, const axis_dims* d,
          parallel::ThreadPool& pool) {
  for_each_row(pool, int64_t{d->outer} * d->inner, d->size,
               [&](int64_t line) { part(values, indices, x, line, d); });
}

// Completes the definition; the caller sets name, doc and kernels.
OpDef cumulative(OpDef def) {
  def.signature.inputs = {{"x", "f32, at least one dimension"}};
  def.signature.outputs = {{"values", "the shape of x"}, {"indices", "the shape of x, i32"}};
  def.signature.attrs = ir::Attrs::schema_of<CummaxOptions>();
  def.infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
    checked_axis(c, c.attrs.as<CummaxOptions>().axis, c.shape(0).rank());
    return {c.input(0), {DType::i32, c.shape(0)}};
  };
  def.gradient.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
    if (!c.grad()) return {Value()};
    const GatherGradAttrs attrs{c.attrs.as<CummaxOptions>().axis, c.input(0).shape()};
    return {gather_grad(c.grad(), c.output(1), attrs)};
  };
  def.kernels.params = [](const ir::KernelContext& c) -> ir::Params {
    return axis_dims_of(c.in(0), c.attrs.as<CummaxOptions>().axis);
  };
  def.memory.in_place = {{0, 0}};
  def.flow.samples = [](const ir::SamplesContext& c) {
    return samples_along(c, c.attrs.as<CummaxOptions>().axis);
  };
  return def;
}

const OpDef& cummax_op() {
  static const OpDef def = cumulative({
      .name = "cummax",
      .signature{
          .doc = "The largest of every element and those before it along an axis, and where it "
                 "stood.",
          .example = "auto [values, indices] = cummax(x, {.axis = 1});",
      },
      .kernels{
          .ref = ir::kernel_fn<&f32::cummax_ref>(),
          .ref64 = ir::kernel_fn<&f64::cummax_ref>(),
          .fast = ir::kernel_fn<&fast<&f32::cummax_part>>(),
      },
  });
  return def;
}

const OpDef& cummin_op() {
  static const OpDef def = cumulative({
      .name = "cummin",
      .signature{
          .doc = "The smallest of every element and those before it along an axis, and where it "
                 "stood.",
          .example = "auto [values, indices] = cummin(x, {.axis = 1});",
      },
      .kernels{
          .ref = ir::kernel_fn<&f32::cummin_ref>(),
          .ref64 = ir::kernel_fn<&f64::cummin_ref>(),
          .fast = ir::kernel_fn<&fast<&f32::cummin_part>>(),
      },
  });
  return def;
}

Cummax both(const OpDef& op, Value x, const CummaxOptions& options) {
  const Value inputs[] = {x};
  const std::vector<Value> out = x.graph().add(op, ir::Attrs::of(options), inputs);
  return {out[0], out[1]};
}

}  // namespace
}  // namespace thimble::ops::cummax_impl

THIMBLE_OP_FOLDER(cummax) {
  static const OpDef* const defs[] = {&cummax_op(), &cummin_op()};
  return defs;
}

namespace thimble {

void describe(CummaxOptions& options, ir::FieldVisitor& visitor) {
  visitor.field("axis", options.axis, "along which elements count; negative counts from the last");
}

Cummax cummax(Value x, const CummaxOptions& options) {
  return ops::cummax_impl::both(ops::cummax_impl::cummax_op(), x, options);
}
Cummax cummin(Value x, const CummaxOptions& options) {
  return ops::cummax_impl::both(ops::cummax_impl::cummin_op(), x, options);
}

}  // namespace thimble
