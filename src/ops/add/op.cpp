#include <thimble/ops/add.h>
#include <thimble/ops/quantized_add.h>
#include <thimble/ops/sum_to.h>

#include "ops/families/binary/binary.h"
#include "ops/families/kernel/integers.h"

#define THIMBLE_OP add
#define THIMBLE_INTEGERS
#include "ops/families/builder/both_precisions.h"

BINARY_SIMD_DECLARE(add)

namespace thimble::ops::add_impl {
namespace {

std::vector<Value> add_vjp(const ir::VjpContext& c) {
  std::vector<Value> grads(2);
  for (int i : {0, 1}) {
    if (c.need(i)) grads[static_cast<size_t>(i)] = sum_to(c.grad(), c.input(i).shape());
  }
  return grads;
}

std::vector<Value> quantized(const ir::QuantizeContext& c) {
  return {quantized_add(
      c.input(0), c.input(1),
      {.scale = c.scale, .zero_point = c.zero_point, .requantization = c.requantization})};
}

const OpDef& add_op() {
  static const OpDef def = binary_op({
      .name = "add",
      .signature{
          .doc = "The sum of two tensors, broadcast as in NumPy: y = a + b.",
          .example = "auto y = a + b;",
      },
      .gradient{
          .vjp = add_vjp,
          .adds_gradients = true,
      },
      .kernels{
          .ref = ir::kernel_fn<&f32::add_ref>(),
          .ref64 = ir::kernel_fn<&f64::add_ref>(),
          .fast = ir::kernel_fn<&add_simd>(),
          .typed = INTEGER_KERNELS(add),
      },
      .quantized{.build = quantized, .rescales = true},
  });
  return def;
}

}  // namespace
}  // namespace thimble::ops::add_impl

THIMBLE_OP_FOLDER(add) {
  static const OpDef* const defs[] = {&add_op()};
  return defs;
}

namespace thimble {

Value add(Value a, Value b) { return a.graph().add1(ops::add_impl::add_op(), {}, {a, b}); }

}  // namespace thimble
