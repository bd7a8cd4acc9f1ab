#include <thimble/ops/log_softmax.h>

#include "ops/common/softmax.h"
#include "ops/log_softmax/simd.h"

#define THIMBLE_REF "ops/log_softmax/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble::ops {
namespace {

const OpDef& log_softmax_grad_op() {
  static const OpDef def{
      .name = "log_softmax_grad",
      .doc = "The gradient of log_softmax, from its result.",
      .inputs = {{"dy", "any shape"}, {"y", "the shape of dy"}},
      .outputs = {{"dx", "the shape of dy"}},
      .attrs = ir::Attrs::schema_of<SoftmaxOptions>(),
      .infer = infer_softmax,
      .params = softmax_params,
      .ref = ir::kernel_fn<&f32::log_softmax_grad_ref>(),
      .ref64 = ir::kernel_fn<&f64::log_softmax_grad_ref>(),
      .fast = ir::kernel_fn<&log_softmax_grad_simd>(),
      .in_place = {{0, 0}, {0, 1}},
  };
  return def;
}

const OpDef& log_softmax_op() {
  static const OpDef def{
      .name = "log_softmax",
      .doc = "The logarithm of softmax over an axis: y = x - log(sum of exp(x)).",
      .example = "auto log_p = log_softmax(logits);",
      .inputs = {{"x", "any shape of at least one dimension"}},
      .outputs = {{"y", "the shape of x"}},
      .attrs = ir::Attrs::schema_of<SoftmaxOptions>(),
      .infer = infer_softmax,
      .vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        return {c.grad().graph().add1(log_softmax_grad_op(), c.attrs, {c.grad(), c.output()})};
      },
      .params = softmax_params,
      .ref = ir::kernel_fn<&f32::log_softmax_ref>(),
      .ref64 = ir::kernel_fn<&f64::log_softmax_ref>(),
      .fast = ir::kernel_fn<&log_softmax_simd>(),
      .in_place = {{0, 0}},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(log_softmax) {
  static const OpDef* const defs[] = {&log_softmax_op(), &log_softmax_grad_op()};
  return defs;
}

namespace thimble {
Value log_softmax(Value x, const SoftmaxOptions& options) {
  return x.graph().add1(ops::log_softmax_op(), ir::Attrs::of(options), {x});
}
}  // namespace thimble
