#include <thimble/ops/softmax.h>

#include "ops/common/softmax.h"
#include "ops/softmax/simd.h"

#define THIMBLE_REF "ops/softmax/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble::ops {
namespace {

const OpDef& softmax_grad_op() {
  static const OpDef def{
      .name = "softmax_grad",
      .doc = "The gradient of softmax, from its result.",
      .inputs = {{"dy", "any shape"}, {"y", "the shape of dy"}},
      .outputs = {{"dx", "the shape of dy"}},
      .attrs = ir::Attrs::schema_of<SoftmaxOptions>(),
      .infer = infer_softmax,
      .params = softmax_params,
      .ref = ir::kernel_fn<&f32::softmax_grad_ref>(),
      .ref64 = ir::kernel_fn<&f64::softmax_grad_ref>(),
      .fast = ir::kernel_fn<&softmax_grad_simd>(),
      .in_place = {{0, 0}, {0, 1}},
  };
  return def;
}

const OpDef& softmax_op() {
  static const OpDef def{
      .name = "softmax",
      .doc = "Softmax over an axis: y = exp(x) / sum of exp(x).",
      .example = "auto p = softmax(logits);",
      .inputs = {{"x", "any shape of at least one dimension"}},
      .outputs = {{"y", "the shape of x"}},
      .attrs = ir::Attrs::schema_of<SoftmaxOptions>(),
      .infer = infer_softmax,
      .vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        return {c.grad().graph().add1(softmax_grad_op(), c.attrs, {c.grad(), c.output()})};
      },
      .params = softmax_params,
      .ref = ir::kernel_fn<&f32::softmax_ref>(),
      .ref64 = ir::kernel_fn<&f64::softmax_ref>(),
      .fast = ir::kernel_fn<&softmax_simd>(),
      .in_place = {{0, 0}},
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(softmax) {
  static const OpDef* const defs[] = {&softmax_op(), &softmax_grad_op()};
  return defs;
}

namespace thimble {
Value softmax(Value x, const SoftmaxOptions& options) {
  return x.graph().add1(ops::softmax_op(), ir::Attrs::of(options), {x});
}
}  // namespace thimble
