#include <thimble/ops/frac.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP frac
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE_LINEAR(frac)

namespace thimble::ops::frac_impl {
namespace {

const OpDef& frac_op() {
  static const OpDef def = unary_op({
      .name = "frac",
      .signature{
          .doc = "The fraction of x, with its sign: y = x - trunc(x); its gradient is that of x.",
          .example = "auto y = frac(x);",
          .torch = "frac",
          .domain = {.low = 0.1, .high = 0.9},
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> { return {c.grad()}; }},
      .kernels{
          .ref = ir::kernel_fn<&f32::frac_ref>(),
          .ref64 = ir::kernel_fn<&f64::frac_ref>(),
          .fast = ir::kernel_fn<&frac_simd>(),
      },
  });
  return def;
}

}  // namespace
}  // namespace thimble::ops::frac_impl

THIMBLE_OP_FOLDER(frac) {
  static const OpDef* const defs[] = {&frac_op()};
  return defs;
}

namespace thimble {

Value frac(Value x) { return x.graph().add1(ops::frac_impl::frac_op(), {}, {x}); }

}  // namespace thimble
