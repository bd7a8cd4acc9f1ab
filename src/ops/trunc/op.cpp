#include <thimble/ops/trunc.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP trunc
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE_LINEAR(trunc)

namespace thimble::ops::trunc_impl {
namespace {

const OpDef& trunc_op() {
  static const OpDef def = unary_op({
      .name = "trunc",
      .signature{
          .doc = "x without its fraction: rounded towards 0; its gradient is 0.",
          .example = "auto y = trunc(x);",
          .torch = "trunc",
          .domain = {.low = 0.1, .high = 0.4},
      },
      .gradient{.vjp = [](const ir::VjpContext&) -> std::vector<Value> { return {Value()}; }},
      .kernels{
          .ref = ir::kernel_fn<&f32::trunc_ref>(),
          .ref64 = ir::kernel_fn<&f64::trunc_ref>(),
          .fast = ir::kernel_fn<&trunc_simd>(),
      },
  });
  return def;
}

}  // namespace
}  // namespace thimble::ops::trunc_impl

THIMBLE_OP_FOLDER(trunc) {
  static const OpDef* const defs[] = {&trunc_op()};
  return defs;
}

namespace thimble {

Value trunc(Value x) { return x.graph().add1(ops::trunc_impl::trunc_op(), {}, {x}); }

}  // namespace thimble
