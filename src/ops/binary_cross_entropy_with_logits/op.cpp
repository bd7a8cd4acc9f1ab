#include <thimble/ops/affine.h>
#include <thimble/ops/binary_cross_entropy_with_logits.h>
#include <thimble/ops/log_sigmoid.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/sub.h>

#include "ops/binary_cross_entropy_with_logits/attrs.h"
#include "ops/binary_cross_entropy_with_logits/simd.h"
#include "ops/common/compose.h"

#define THIMBLE_REF "ops/binary_cross_entropy_with_logits/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble::ops {
namespace {

struct BinaryCrossEntropy {
  static constexpr const char* name = "binary_cross_entropy_with_logits";
  static constexpr const char* grad_name = "binary_cross_entropy_with_logits_grad";
  static constexpr const char* target_grad_name = "binary_cross_entropy_with_logits_target_grad";
  static constexpr const char* doc =
      "Cross-entropy between probabilities t and sigmoid(x): reduce of max(x, 0) - x t + "
      "log(1 + exp(-|x|)); the reduction is mean, sum, or batch_mean = sum / N.";
  static constexpr const char* example =
      "auto loss = binary_cross_entropy_with_logits(logits, images, {.reduction = "
      "Reduction::batch_mean});";
  static constexpr const char* x = "logits";
  static constexpr const char* t = "targets";
  static constexpr bool symmetric = false;
  using Options = LossOptions;
  static double a(const Options&) { return 0.0; }
  static void check(const ir::InferContext&, const Options&) {}
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::binary_cross_entropy_with_logits_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::binary_cross_entropy_with_logits_ref>();
  static constexpr ir::KernelFn fast = ir::kernel_fn<&binary_cross_entropy_with_logits_simd>();
  static constexpr ir::KernelFn grad_ref =
      ir::kernel_fn<&f32::binary_cross_entropy_with_logits_grad_ref>();
  static constexpr ir::KernelFn grad_ref64 =
      ir::kernel_fn<&f64::binary_cross_entropy_with_logits_grad_ref>();
  static constexpr ir::KernelFn grad_fast =
      ir::kernel_fn<&binary_cross_entropy_with_logits_grad_simd>();
  static constexpr ir::KernelFn target_grad_ref =
      ir::kernel_fn<&f32::binary_cross_entropy_with_logits_target_grad_ref>();
  static constexpr ir::KernelFn target_grad_ref64 =
      ir::kernel_fn<&f64::binary_cross_entropy_with_logits_target_grad_ref>();
};

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(binary_cross_entropy_with_logits) {
  return ElementLoss<BinaryCrossEntropy>::folder();
}

namespace thimble {

Value binary_cross_entropy_with_logits(Value logits, Value targets, const LossOptions& options) {
  return ops::ElementLoss<ops::BinaryCrossEntropy>::apply(logits, targets, options);
}

Value binary_cross_entropy_with_logits(Value logits, Value targets, Value weight, Value pos_weight,
                                       const LossOptions& options) {
  if (!weight && !pos_weight) return binary_cross_entropy_with_logits(logits, targets, options);
  Value terms;
  if (pos_weight) {
    ops::require_same_shape("binary_cross_entropy_with_logits", logits, targets);
    const Value share = 1.0 + (pos_weight - 1.0) * targets;
    terms = (1.0 - targets) * logits - share * log_sigmoid(logits);
  } else {
    terms = binary_cross_entropy_with_logits(logits, targets, {Reduction::none});
  }
  return ops::reduce_loss(weight ? weight * terms : terms, options.reduction);
}

}  // namespace thimble
