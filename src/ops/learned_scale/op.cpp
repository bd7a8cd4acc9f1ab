#include <thimble/ops/affine.h>
#include <thimble/ops/div.h>
#include <thimble/ops/learned_scale.h>

#include "ir/graph.h"
#include "ops/families/unary/unary_dims.h"
#include "ops/learned_scale/dims.h"

#define THIMBLE_OP learned_scale
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::learned_scale_impl {
namespace {

const OpDef& learned_scale_op() {
  static const OpDef def{
      .name = "learned_scale",
      .signature{
          .doc = "Scales of fake_quantize that train, as ratios of those at the start: y = unit * "
                 "max(ratio, 2^-10), with the gradient dratio = dy * gradient_scale / unit (Esser "
                 "et al., 2020).",
          .example = "auto y = learned_scale(ratio, unit, {.gradient_scale = 0.01});",
          .inputs = {{"ratio", "[C]"}, {"unit", "[C], above 0"}},
          .outputs = {{"y", "[C]"}},
          .attrs = ir::Attrs::schema_of<LearnedScaleAttrs>(),
      },
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require_rank(0, 1);
        c.require(c.input(0) == c.input(1), "expected ratio and unit of one type");
        return {c.input(0)};
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        const double by = c.attrs.as<LearnedScaleAttrs>().gradient_scale;
        return {affine(div(c.grad(), c.input(1)), {.scale = by}), Value()};
      }},
      .kernels{
          .params = [](const ir::KernelContext& c) -> ir::Params {
            return unary_dims{.n = static_cast<int>(c.out().elements()), .a = 0, .b = 0};
          },
          .ref = ir::kernel_fn<&f32::learned_scale_ref>(),
          .ref64 = ir::kernel_fn<&f64::learned_scale_ref>(),
      },
      .memory{.in_place = {{0, 0}, {0, 1}}},
      .flow{.elementwise = true},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops::learned_scale_impl

THIMBLE_OP_FOLDER(learned_scale) {
  static const OpDef* const defs[] = {&learned_scale_op()};
  return defs;
}

namespace thimble {

void describe(LearnedScaleAttrs& a, ir::FieldVisitor& v) {
  v.field("gradient_scale", a.gradient_scale, "what the gradient of the scale is multiplied with");
}

Value learned_scale(Value ratio, Value unit, const LearnedScaleAttrs& attrs) {
  return ratio.graph().add1(ops::learned_scale_impl::learned_scale_op(), ir::Attrs::of(attrs),
                            {ratio, unit});
}

}  // namespace thimble
