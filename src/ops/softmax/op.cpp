#include <thimble/ops/softmax.h>

#include "ops/families/softmax/softmax.h"

#define THIMBLE_OP softmax
#include "ops/families/builder/both_precisions.h"

SOFTMAX_SIMD_DECLARE(softmax)

namespace thimble::ops::softmax_impl {
namespace {

const OpDef& softmax_grad_op() {
  static const OpDef def = softmax_family_grad_op({
      .name = "softmax_grad",
      .signature{.doc = "The gradient of softmax, from its result."},
      .kernels{
          .ref = ir::kernel_fn<&f32::softmax_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::softmax_grad_ref>(),
          .fast = ir::kernel_fn<&softmax_grad_simd>(),
      },
  });
  return def;
}

const OpDef& softmax_op() {
  static const OpDef def = softmax_family_op({
      .name = "softmax",
      .signature{
          .doc = "Softmax over an axis: y = exp(x) / sum of exp(x).",
          .example = "auto p = softmax(logits);",
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        return {c.grad().graph().add1(softmax_grad_op(), c.attrs, {c.grad(), c.output()})};
      }},
      .kernels{
          .ref = ir::kernel_fn<&f32::softmax_ref>(),
          .ref64 = ir::kernel_fn<&f64::softmax_ref>(),
          .fast = ir::kernel_fn<&softmax_simd>(),
      },
  });
  return def;
}

}  // namespace
}  // namespace thimble::ops::softmax_impl

THIMBLE_OP_FOLDER(softmax) {
  static const OpDef* const defs[] = {&softmax_op(), &softmax_grad_op()};
  return defs;
}

namespace thimble {
Value softmax(Value x, const SoftmaxOptions& options) {
  return x.graph().add1(ops::softmax_impl::softmax_op(), ir::Attrs::of(options), {x});
}
}  // namespace thimble
