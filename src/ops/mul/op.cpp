#include <thimble/ops/mul.h>
#include <thimble/ops/quantized_mul.h>
#include <thimble/ops/sum_to.h>

#include "ops/families/binary/binary.h"
#include "ops/families/kernel/integers.h"

#define THIMBLE_OP mul
#define THIMBLE_INTEGERS
#include "ops/families/builder/both_precisions.h"

BINARY_SIMD_DECLARE(mul)

namespace thimble::ops::mul_impl {
namespace {

std::vector<Value> mul_vjp(const ir::VjpContext& c) {
  std::vector<Value> grads(2);
  for (int i : {0, 1}) {
    if (!c.need(i)) continue;
    grads[static_cast<size_t>(i)] = sum_to(c.grad() * c.input(1 - i), c.input(i).shape());
  }
  return grads;
}

std::vector<Value> quantized(const ir::QuantizeContext& c) {
  return {quantized_mul(
      c.input(0), c.input(1),
      {.scale = c.scale, .zero_point = c.zero_point, .requantization = c.requantization})};
}

const OpDef& mul_op() {
  static const OpDef def = binary_op({
      .name = "mul",
      .signature{
          .doc =
              "The product of two tensors, element by element, broadcast as in NumPy: y = a * b.",
          .example = "auto y = a * b;",
      },
      .gradient{.vjp = mul_vjp},
      .kernels{
          .ref = ir::kernel_fn<&f32::mul_ref>(),
          .ref64 = ir::kernel_fn<&f64::mul_ref>(),
          .fast = ir::kernel_fn<&mul_simd>(),
          .typed = INTEGER_KERNELS(mul),
      },
      .quantized{.build = quantized, .rescales = true},
  });
  return def;
}

}  // namespace
}  // namespace thimble::ops::mul_impl

namespace thimble::ops {

const OpDef& product_op() { return mul_impl::mul_op(); }

}  // namespace thimble::ops

THIMBLE_OP_FOLDER(mul) {
  static const OpDef* const defs[] = {&mul_op()};
  return defs;
}

namespace thimble {

Value mul(Value a, Value b) { return a.graph().add1(ops::mul_impl::mul_op(), {}, {a, b}); }

}  // namespace thimble
