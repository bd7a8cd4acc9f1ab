#include <thimble/ops/maximum.h>

#include "ops/families/extremum/extremum.h"
#include "ops/families/kernel/integers.h"

#define THIMBLE_OP maximum
#define THIMBLE_INTEGERS
#include "ops/families/builder/both_precisions.h"

namespace thimble::ops::maximum_impl {
namespace {

const OpDef& maximum_grad_op() {
  static const OpDef def = extremum_of_two_grad_op({
      .name = "maximum_grad",
      .is_gradient = true,
      .kernels{
          .ref = ir::kernel_fn<&f32::maximum_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::maximum_grad_ref>(),
          .fast = ir::kernel_fn<&maximum_grad_simd>(),
      },
  });
  return def;
}

const OpDef& maximum_op() {
  static const OpDef def = extremum_of_two_op({
      .name = "maximum",
      .signature{
          .doc =
              "The larger of a and b, element by element with broadcasting; NaN where one is NaN.",
          .example = "auto y = maximum(a, b);",
      },
      .gradient{
          .vjp = [](const ir::VjpContext& c) { return extremum_of_two_vjp(c, maximum_grad_op()); }},
      .kernels{
          .ref = ir::kernel_fn<&f32::maximum_ref>(),
          .ref64 = ir::kernel_fn<&f64::maximum_ref>(),
          .fast = ir::kernel_fn<&maximum_simd>(),
          .typed = INTEGER_KERNELS(maximum),
      },
  });
  return def;
}

}  // namespace
}  // namespace thimble::ops::maximum_impl

THIMBLE_OP_FOLDER(maximum) {
  static const OpDef* const defs[] = {&maximum_op(), &maximum_grad_op()};
  return defs;
}

namespace thimble {
Value maximum(Value a, Value b) {
  return a.graph().add1(ops::maximum_impl::maximum_op(), {}, {a, b});
}
}  // namespace thimble
