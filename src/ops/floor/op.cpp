#include <thimble/ops/floor.h>

#include "ops/families/unary/unary.h"

#define THIMBLE_OP floor
#include "ops/families/builder/both_precisions.h"

UNARY_SIMD_DECLARE_LINEAR(floor)

namespace thimble::ops::floor_impl {
namespace {

const OpDef& floor_op() {
  static const OpDef def = unary_op({
      .name = "floor",
      .signature{
          .doc = "The largest whole number that is not above x; its gradient is 0.",
          .example = "auto y = floor(x);",
          .torch = "floor",
          .domain = {.low = 0.1, .high = 0.4},
      },
      .gradient{.vjp = [](const ir::VjpContext&) -> std::vector<Value> { return {Value()}; }},
      .kernels{
          .ref = ir::kernel_fn<&f32::floor_ref>(),
          .ref64 = ir::kernel_fn<&f64::floor_ref>(),
          .fast = ir::kernel_fn<&floor_simd>(),
      },
  });
  return def;
}

}  // namespace
}  // namespace thimble::ops::floor_impl

THIMBLE_OP_FOLDER(floor) {
  static const OpDef* const defs[] = {&floor_op()};
  return defs;
}

namespace thimble {

Value floor(Value x) { return x.graph().add1(ops::floor_impl::floor_op(), {}, {x}); }

}  // namespace thimble
