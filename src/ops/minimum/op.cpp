#include <thimble/ops/minimum.h>

#include "ops/families/extremum/extremum.h"
#include "ops/families/kernel/integers.h"

#define THIMBLE_OP minimum
#define THIMBLE_INTEGERS
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::minimum_impl {
namespace {

const OpDef& minimum_grad_op() {
  static const OpDef def = extremum_of_two_grad_op({
      .name = "minimum_grad",
      .is_gradient = true,
      .kernels{
          .ref = ir::kernel_fn<&f32::minimum_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::minimum_grad_ref>(),
          .fast = ir::kernel_fn<&minimum_grad_simd>(),
      },
  });
  return def;
}

const OpDef& minimum_op() {
  static const OpDef def = extremum_of_two_op({
      .name = "minimum",
      .signature{
          .doc =
              "The smaller of a and b, element by element with broadcasting; NaN where one is NaN.",
          .example = "auto y = minimum(a, b);",
      },
      .gradient{
          .vjp = [](const ir::VjpContext& c) { return extremum_of_two_vjp(c, minimum_grad_op()); }},
      .kernels{
          .ref = ir::kernel_fn<&f32::minimum_ref>(),
          .ref64 = ir::kernel_fn<&f64::minimum_ref>(),
          .fast = ir::kernel_fn<&minimum_simd>(),
          .typed = INTEGER_KERNELS(minimum),
      },
  });
  return def;
}

}  // namespace
}  // namespace thimble::ops::minimum_impl

THIMBLE_OP_FOLDER(minimum) {
  static const OpDef* const defs[] = {&minimum_op(), &minimum_grad_op()};
  return defs;
}

namespace thimble {
Value minimum(Value a, Value b) {
  return a.graph().add1(ops::minimum_impl::minimum_op(), {}, {a, b});
}
}  // namespace thimble
