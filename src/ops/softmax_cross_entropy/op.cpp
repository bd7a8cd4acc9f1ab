#include <thimble/ops/softmax_cross_entropy.h>

#include "ops/common/classes.h"
#include "ops/common/loss.h"
#include "ops/softmax_cross_entropy/simd.h"

#define THIMBLE_REF "ops/softmax_cross_entropy/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble::ops {
namespace {

ir::Params params_of(const ir::KernelContext& c, int logits) {
  const Shape& x = c.in(logits);
  class_dims d = class_dims_of(x, c.inputs[static_cast<size_t>(logits) + 1]->dtype);
  d.divisor = loss_divisor(c.attrs.as<LossOptions>().reduction, x, d.rows);
  return d;
}

const OpDef& softmax_cross_entropy_grad_op() {
  static const OpDef def{
      .name = "softmax_cross_entropy_grad",
      .doc = "The gradient of softmax_cross_entropy by its logits.",
      .inputs = {{"dy", "one number"},
                 {"logits", "[N, ..., classes]"},
                 {"labels", "[N, ...] of i32 or [N, ..., classes] of f32"}},
      .outputs = {{"dx", "[N, ..., classes]"}},
      .attrs = ir::Attrs::schema_of<LossOptions>(),
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        c.require(c.input(0) == ir::TensorType{}, "expected dy as one number of type f32");
        require_classes(c, 1, 2);
        return {c.input(1)};
      },
      .params = [](const ir::KernelContext& c) { return params_of(c, 1); },
      .ref = ir::kernel_fn<&f32::softmax_cross_entropy_grad_ref>(),
      .ref64 = ir::kernel_fn<&f64::softmax_cross_entropy_grad_ref>(),
      .fast = ir::kernel_fn<&softmax_cross_entropy_grad_simd>(),
      .in_place = {{0, 1}},
  };
  return def;
}

const OpDef& softmax_cross_entropy_op() {
  static const OpDef def{
      .name = "softmax_cross_entropy",
      .doc =
          "Cross-entropy between labels and the softmax of logits over the last axis: reduce "
          "over rows of -sum of t log softmax(x). Labels are class indices or probabilities.",
      .example = "auto loss = softmax_cross_entropy(logits, g.label(\"digit\"));",
      .inputs = {{"logits", "[N, ..., classes]"},
                 {"labels", "[N, ...] of i32 or [N, ..., classes] of f32"}},
      .outputs = {{"loss", "one number"}},
      .attrs = ir::Attrs::schema_of<LossOptions>(),
      .infer = [](const ir::InferContext& c) -> std::vector<ir::TensorType> {
        require_classes(c, 0, 1);
        return {{DType::f32, {}}};
      },
      .vjp = [](const ir::VjpContext& c) -> std::vector<Value> {
        refuse_gradient(c, 1, softmax_cross_entropy_op());
        return {c.grad().graph().add1(softmax_cross_entropy_grad_op(), c.attrs,
                                      {c.grad(), c.input(0), c.input(1)})};
      },
      .params = [](const ir::KernelContext& c) { return params_of(c, 0); },
      .workspace = softmax_cross_entropy_workspace,
      .ref = ir::kernel_fn<&f32::softmax_cross_entropy_ref>(),
      .ref64 = ir::kernel_fn<&f64::softmax_cross_entropy_ref>(),
      .fast = ir::kernel_fn<&softmax_cross_entropy_simd>(),
  };
  return def;
}

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(softmax_cross_entropy) {
  static const OpDef* const defs[] = {&softmax_cross_entropy_op(),
                                      &softmax_cross_entropy_grad_op()};
  return defs;
}

namespace thimble {
Value softmax_cross_entropy(Value logits, Value labels, const LossOptions& options) {
  return logits.graph().add1(ops::softmax_cross_entropy_op(), ir::Attrs::of(options),
                             {logits, labels});
}
}  // namespace thimble
