#include <thimble/ops/affine.h>
#include <thimble/ops/cast.h>
#include <thimble/ops/div.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/neg.h>
#include <thimble/ops/reciprocal.h>
#include <thimble/ops/sum_to.h>

#include <cmath>

#include "ops/families/binary/binary.h"
#include "ops/families/builder/compose.h"

#define THIMBLE_OP div
#include "ops/families/builder/both_precisions.h"

BINARY_SIMD_DECLARE(div)

namespace thimble::ops::div_impl {
namespace {

std::vector<Value> div_vjp(const ir::VjpContext& c) {
  std::vector<Value> grads(2);
  const Value share = c.grad() / c.input(1);
  if (c.need(0)) grads[0] = sum_to(share, c.input(0).shape());
  if (c.need(1)) grads[1] = -sum_to(share * c.output(), c.input(1).shape());
  return grads;
}

bool has_16_bits(Value x) { return x.dtype() == DType::f16 || x.dtype() == DType::bf16; }

// Whether multiplying by 1 / c gives the quotient's bits.
bool has_exact_reciprocal(double c) {
  constexpr int kSmallest = -100;  // far from where f32 or its reciprocal are rounded
  constexpr int kLargest = 100;
  int exponent = 0;
  return std::abs(std::frexp(c, &exponent)) == 0.5 && exponent > kSmallest && exponent < kLargest;
}

const OpDef& div_op() {
  static const OpDef def = binary_op({
      .name = "div",
      .signature{
          .doc =
              "The quotient of two tensors, element by element, broadcast as in NumPy: y = a / b.",
          .example = "auto y = a / b;",
      },
      .gradient{.vjp = div_vjp},
      .kernels{
          .ref = ir::kernel_fn<&f32::div_ref>(),
          .ref64 = ir::kernel_fn<&f64::div_ref>(),
          .fast = ir::kernel_fn<&div_simd>(),
      },
  });
  return def;
}

}  // namespace
}  // namespace thimble::ops::div_impl

THIMBLE_OP_FOLDER(div) {
  static const OpDef* const defs[] = {&div_op()};
  return defs;
}

namespace thimble {

Value div(Value a, Value b) { return a.graph().add1(ops::div_impl::div_op(), {}, {a, b}); }

Value operator/(Value x, double c) {
  if (ops::div_impl::has_exact_reciprocal(c)) return affine(x, {.scale = 1.0 / c});
  if (ops::div_impl::has_16_bits(x)) return cast(cast(x, DType::f32) / c, x.dtype());
  return div(x, ops::number(x, c));
}

Value operator/(double c, Value x) {
  if (c == 1.0) return reciprocal(x);
  if (ops::div_impl::has_16_bits(x)) return cast(c / cast(x, DType::f32), x.dtype());
  return div(ops::number(x, c), x);
}

}  // namespace thimble
