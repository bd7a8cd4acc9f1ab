#include <thimble/ops/affine.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP affine
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE_LINEAR(affine)

namespace thimble::ops::affine_impl {
namespace {

std::vector<Value> vjp(const ir::VjpContext& c) {
  const double scale = c.attrs.as<AffineAttrs>().scale;
  return {scale == 1.0 ? c.grad() : scale * c.grad()};
}

ir::Params params(const ir::KernelContext& c) {
  const auto& a = c.attrs.as<AffineAttrs>();
  return unary_dims{.n = static_cast<int>(c.out().elements()),
                    .a = static_cast<float>(a.scale),
                    .b = static_cast<float>(a.shift)};
}

constexpr ir::TestCase kCases[] = {
    {.domain = {-1.0, 1.0}},
    {.name = "both",
     .attrs = R"({"scale": 1.5, "shift": -0.25})",
     .domain = {-1.0, 1.0},
     .torch = "mul(x, 1.5) - 0.25"},
    {.name = "shift", .attrs = R"({"shift": 3.0})", .torch = "add(x, 3)"},
};

const OpDef& affine_op() {
  static const OpDef def = unary_op({
      .name = "affine",
      .signature{
          .doc = "A tensor times a number plus a number: y = scale * x + shift.",
          .example = "auto y = 2.0 * x + 1.0;",
          .attrs = ir::Attrs::schema_of<AffineAttrs>(),
          .cases = kCases,
      },
      .gradient{.vjp = vjp},
      .kernels{
          .params = params,
          .ref = ir::kernel_fn<&f32::affine_ref>(),
          .ref64 = ir::kernel_fn<&f64::affine_ref>(),
          .fast = ir::kernel_fn<&affine_simd>(),
      },
  });
  return def;
}

}  // namespace
}  // namespace thimble::ops::affine_impl

namespace thimble::ops {

const OpDef& linear_op() { return affine_impl::affine_op(); }

}  // namespace thimble::ops

THIMBLE_OP_FOLDER(affine) {
  static const OpDef* const defs[] = {&affine_op()};
  return defs;
}

namespace thimble {

void describe(AffineAttrs& a, ir::FieldVisitor& v) {
  v.field("scale", a.scale, "what x is multiplied with");
  v.field("shift", a.shift, "what is then added");
}

Value affine(Value x, const AffineAttrs& attrs) {
  return x.graph().add1(ops::affine_impl::affine_op(), ir::Attrs::of(attrs), {x});
}

}  // namespace thimble
