#include <thimble/ops/round.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP round
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE_LINEAR(round)

namespace thimble::ops::round_impl {
namespace {

const OpDef& round_op() {
  static const OpDef def = unary_op({
      .name = "round",
      .signature{
          .doc = "The nearest whole number, halves to even; its gradient is 0 (see "
                 "straight_through_round).",
          .example = "auto y = round(x);",
          .torch = "round",
          .domain = {.low = 0.1, .high = 0.4},
      },
      .gradient{.vjp = [](const ir::VjpContext&) -> std::vector<Value> { return {Value()}; }},
      .kernels{
          .ref = ir::kernel_fn<&f32::round_ref>(),
          .ref64 = ir::kernel_fn<&f64::round_ref>(),
          .fast = ir::kernel_fn<&round_simd>(),
      },
  });
  return def;
}

}  // namespace
}  // namespace thimble::ops::round_impl

THIMBLE_OP_FOLDER(round) {
  static const OpDef* const defs[] = {&round_op()};
  return defs;
}

namespace thimble {

Value round(Value x) { return x.graph().add1(ops::round_impl::round_op(), {}, {x}); }

}  // namespace thimble
