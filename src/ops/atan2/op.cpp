#include <thimble/ops/add.h>
#include <thimble/ops/atan2.h>
#include <thimble/ops/cast.h>
#include <thimble/ops/compare.h>
#include <thimble/ops/div.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/neg.h>
#include <thimble/ops/sum_to.h>
#include <thimble/ops/where.h>

#include "ops/families/binary/binary.h"
#include "ops/families/builder/compose.h"

#define THIMBLE_OP atan2
#include "ops/families/builder/both_precisions.h"

BINARY_SIMD_DECLARE(atan2)

namespace thimble::ops::atan2_impl {
namespace {

std::vector<Value> atan2_vjp(const ir::VjpContext& c) {
  const Value a = c.input(0);
  const Value b = c.input(1);
  const Value squares = a * a + b * b;
  const Value zero = cast(number(a, 0.0), squares.dtype());
  const Value share = where(eq(squares, zero), zero, c.grad() / squares);
  std::vector<Value> grads(2);
  if (c.need(0)) grads[0] = sum_to(share * b, a.shape());
  if (c.need(1)) grads[1] = -sum_to(share * a, b.shape());
  return grads;
}

const OpDef& atan2_op() {
  static const OpDef def = binary_op({
      .name = "atan2",
      .signature{
          .doc = "The angle of the point (b, a), from -pi to pi, element by element, broadcast as "
                 "in NumPy.",
          .example = "auto angle = atan2(y, x);",
      },
      .gradient{.vjp = atan2_vjp},
      .kernels{
          .ref = ir::kernel_fn<&f32::atan2_ref>(),
          .ref64 = ir::kernel_fn<&f64::atan2_ref>(),
          .fast = ir::kernel_fn<&atan2_simd>(),
      },
  });
  return def;
}

}  // namespace
}  // namespace thimble::ops::atan2_impl

THIMBLE_OP_FOLDER(atan2) {
  static const OpDef* const defs[] = {&atan2_op()};
  return defs;
}

namespace thimble {

Value atan2(Value a, Value b) { return a.graph().add1(ops::atan2_impl::atan2_op(), {}, {a, b}); }

}  // namespace thimble
