#include <thimble/ops/neg.h>

#include "ops/families/kernel/integers.h"
#include "ops/families/unary/unary.h"

#define THIMBLE_OP neg
#define THIMBLE_INTEGERS
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE_LINEAR(neg)

namespace thimble::ops::neg_impl {
namespace {

const OpDef& neg_op() {
  static const OpDef def = unary_op({
      .name = "neg",
      .signature{
          .doc = "The negative: y = -x.",
          .example = "auto y = -x;",
          .torch = "neg",
          .domain = {.low = -1, .high = 1},
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> { return {-c.grad()}; }},
      .kernels{
          .ref = ir::kernel_fn<&f32::neg_ref>(),
          .ref64 = ir::kernel_fn<&f64::neg_ref>(),
          .fast = ir::kernel_fn<&neg_simd>(),
          .typed = INTEGER_KERNELS(neg),
      },
  });
  return def;
}

}  // namespace
}  // namespace thimble::ops::neg_impl

THIMBLE_OP_FOLDER(neg) {
  static const OpDef* const defs[] = {&neg_op()};
  return defs;
}

namespace thimble {

Value neg(Value x) { return x.graph().add1(ops::neg_impl::neg_op(), {}, {x}); }

}  // namespace thimble
