#include <thimble/ops/sign.h>

#include "ops/families/kernel/integers.h"
#include "ops/families/unary/unary.h"

#define THIMBLE_OP sign
#define THIMBLE_INTEGERS
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE_LINEAR(sign)

namespace thimble::ops::sign_impl {
namespace {

const OpDef& sign_op() {
  static const OpDef def = unary_op({
      .name = "sign",
      .signature{
          .doc = "-1, 0 or 1, the sign of x, and NaN of NaN; its gradient is 0.",
          .example = "auto y = sign(x);",
          .torch = "sign",
          .domain = {.low = 0.1, .high = 0.4},
      },
      .gradient{.vjp = [](const ir::VjpContext&) -> std::vector<Value> { return {Value()}; }},
      .kernels{
          .ref = ir::kernel_fn<&f32::sign_ref>(),
          .ref64 = ir::kernel_fn<&f64::sign_ref>(),
          .fast = ir::kernel_fn<&sign_simd>(),
          .typed = INTEGER_KERNELS(sign),
      },
  });
  return def;
}

}  // namespace
}  // namespace thimble::ops::sign_impl

THIMBLE_OP_FOLDER(sign) {
  static const OpDef* const defs[] = {&sign_op()};
  return defs;
}

namespace thimble {

Value sign(Value x) { return x.graph().add1(ops::sign_impl::sign_op(), {}, {x}); }

}  // namespace thimble
