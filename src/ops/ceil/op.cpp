#include <thimble/ops/ceil.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP ceil
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE_LINEAR(ceil)

namespace thimble::ops::ceil_impl {
namespace {

const OpDef& ceil_op() {
  static const OpDef def = unary_op({
      .name = "ceil",
      .signature{
          .doc = "The smallest whole number that is not below x; its gradient is 0.",
          .example = "auto y = ceil(x);",
          .torch = "ceil",
          .domain = {.low = 0.1, .high = 0.4},
      },
      .gradient{.vjp = [](const ir::VjpContext&) -> std::vector<Value> { return {Value()}; }},
      .kernels{
          .ref = ir::kernel_fn<&f32::ceil_ref>(),
          .ref64 = ir::kernel_fn<&f64::ceil_ref>(),
          .fast = ir::kernel_fn<&ceil_simd>(),
      },
  });
  return def;
}

}  // namespace
}  // namespace thimble::ops::ceil_impl

THIMBLE_OP_FOLDER(ceil) {
  static const OpDef* const defs[] = {&ceil_op()};
  return defs;
}

namespace thimble {

Value ceil(Value x) { return x.graph().add1(ops::ceil_impl::ceil_op(), {}, {x}); }

}  // namespace thimble
