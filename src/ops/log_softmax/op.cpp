#include <thimble/ops/log_softmax.h>

#include "ops/families/softmax/softmax.h"

#define THIMBLE_OP log_softmax
#include "ops/families/builder/both_precisions.h"

SOFTMAX_SIMD_DECLARE(log_softmax)

namespace thimble::ops::log_softmax_impl {
namespace {

const OpDef& log_softmax_grad_op() {
  static const OpDef def = softmax_family_grad_op({
      .name = "log_softmax_grad",
      .is_gradient = true,
      .signature{.doc = "The gradient of log_softmax, from its result."},
      .kernels{
          .ref = ir::kernel_fn<&f32::log_softmax_grad_ref>(),
          .ref64 = ir::kernel_fn<&f64::log_softmax_grad_ref>(),
          .fast = ir::kernel_fn<&log_softmax_grad_simd>(),
      },
  });
  return def;
}

const OpDef& log_softmax_op() {
  static const OpDef def = softmax_family_op({
      .name = "log_softmax",
      .signature{
          .doc = "The logarithm of softmax over an axis: y = x - log(sum of exp(x)).",
          .example = "auto log_p = log_softmax(logits);",
      },
      .gradient{.vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        return {c.grad().graph().add1(log_softmax_grad_op(), c.attrs, {c.grad(), c.output()})};
      }},
      .kernels{
          .ref = ir::kernel_fn<&f32::log_softmax_ref>(),
          .ref64 = ir::kernel_fn<&f64::log_softmax_ref>(),
          .fast = ir::kernel_fn<&log_softmax_simd>(),
      },
  });
  return def;
}

}  // namespace
}  // namespace thimble::ops::log_softmax_impl

THIMBLE_OP_FOLDER(log_softmax) {
  static const OpDef* const defs[] = {&log_softmax_op(), &log_softmax_grad_op()};
  return defs;
}

namespace thimble {
Value log_softmax(Value x, const SoftmaxOptions& options) {
  return x.graph().add1(ops::log_softmax_impl::log_softmax_op(), ir::Attrs::of(options), {x});
}
}  // namespace thimble
