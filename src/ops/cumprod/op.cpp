#include <thimble/ops/cumprod.h>

#include "ir/graph.h"
#include "ops/families/reduction/axes.h"

#define THIMBLE_OP cumprod
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::cumprod_impl {
namespace {

ir::Params params(const ir::KernelContext& c) {
  return axis_dims_of(c.in(0), c.attrs.as<CumprodOptions>().axis);
}

const OpDef& cumprod_grad_op() {
  static const OpDef def{
      .name = "cumprod_grad",
      .is_gradient = true,
      .signature{
          .doc = "The gradient of cumprod.",
          .inputs = {{"dy", "any shape"}, {"x", "cumprod's input"}},
          .outputs = {{"dx", "the shape of x"}},
          .attrs = ir::Attrs::schema_of<CumprodOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require(c.input(0) == c.input(1), "expected dy of the type of x");
        return {c.input(1)};
      },
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::cumprod_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::cumprod_grad_ref>(),
      },
  };
  return def;
}

const OpDef& cumprod_op() {
  static const OpDef def{
      .name = "cumprod",
      .signature{
          .doc = "Running products along an axis: y[i] = x[0] ... x[i].",
          .example = "auto y = cumprod(x, {.axis = 1});",
          .inputs = {{"x", "any shape of at least one dimension"}},
          .outputs = {{"y", "the shape of x"}},
          .attrs = ir::Attrs::schema_of<CumprodOptions>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        checked_axis(c, c.attrs.as<CumprodOptions>().axis, c.shape(0).rank());
        return {c.input(0)};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        return {c.grad().graph().add1(cumprod_grad_op(), c.attrs, {c.grad(), c.input(0)})};
      }},
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::cumprod_ref>(),
          .ref64 = ir::kernel_fn<&f64::cumprod_ref>(),
      },
      .memory{.in_place = {{0, 0}}},
      .flow{.samples =
                [](const ir::SamplesContext& c) {
                  return samples_along(c, c.attrs.as<CumprodOptions>().axis);
                }},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::cumprod_impl

THIMBLE_OP_FOLDER(cumprod) {
  static const OpDef* const defs[] = {&cumprod_op(), &cumprod_grad_op()};
  return defs;
}

namespace thimble {

void describe(CumprodOptions& a, ir::FieldVisitor& v) {
  v.field("axis", a.axis, "along which to multiply");
}
Value cumprod(Value x, const CumprodOptions& options) {
  return x.graph().add1(ops::cumprod_impl::cumprod_op(), ir::Attrs::of(options), {x});
}
}  // namespace thimble
