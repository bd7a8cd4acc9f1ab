#include <thimble/ops/neg.h>
#include <thimble/ops/quantized_sub.h>
#include <thimble/ops/sub.h>
#include <thimble/ops/sum_to.h>

#include "ops/families/binary/binary.h"
#include "ops/families/kernel/integers.h"

#define THIMBLE_OP sub
#define THIMBLE_INTEGERS
#include "ops/families/builder/both_precisions.h"

BINARY_SIMD_DECLARE(sub)

namespace thimble::ops::sub_impl {
namespace {

std::vector<Value> sub_vjp(const ir::VjpContext& c) {
  std::vector<Value> grads(2);
  if (c.need(0)) grads[0] = sum_to(c.grad(), c.input(0).shape());
  if (c.need(1)) grads[1] = -sum_to(c.grad(), c.input(1).shape());
  return grads;
}

std::vector<Value> quantized(const ir::QuantizeContext& c) {
  return {quantized_sub(
      c.input(0), c.input(1),
      {.scale = c.scale, .zero_point = c.zero_point, .requantization = c.requantization})};
}

const OpDef& sub_op() {
  static const OpDef def = binary_op({
      .name = "sub",
      .signature{
          .doc = "The difference of two tensors, broadcast as in NumPy: y = a - b.",
          .example = "auto y = a - b;",
      },
      .gradient{.vjp = sub_vjp},
      .kernels{
          .ref = ir::kernel_fn<&f32::sub_ref>(),
          .ref64 = ir::kernel_fn<&f64::sub_ref>(),
          .fast = ir::kernel_fn<&sub_simd>(),
          .typed = INTEGER_KERNELS(sub),
      },
      .quantized{.build = quantized, .rescales = true},
  });
  return def;
}

}  // namespace
}  // namespace thimble::ops::sub_impl

THIMBLE_OP_FOLDER(sub) {
  static const OpDef* const defs[] = {&sub_op()};
  return defs;
}

namespace thimble {

Value sub(Value a, Value b) { return a.graph().add1(ops::sub_impl::sub_op(), {}, {a, b}); }

}  // namespace thimble
