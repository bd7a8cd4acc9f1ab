#include <thimble/ops/binary_cross_entropy.h>
#include <thimble/ops/mul.h>

#include "ops/binary_cross_entropy/attrs.h"
#include "ops/binary_cross_entropy/simd.h"
#include "ops/common/compose.h"

#define THIMBLE_REF "ops/binary_cross_entropy/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble::ops {
namespace {

struct BinaryCrossEntropy {
  static constexpr const char* name = "binary_cross_entropy";
  static constexpr const char* grad_name = "binary_cross_entropy_grad";
  static constexpr const char* target_grad_name = "binary_cross_entropy_target_grad";
  static constexpr const char* doc =
      "The cross-entropy between probabilities: reduce of -(t max(log x, -100) + (1 - t) max(log(1 "
      "- x), -100)).";
  static constexpr const char* example = "auto loss = binary_cross_entropy(sigmoid(x), t);";
  static constexpr const char* x = "x";
  static constexpr const char* t = "target";
  static constexpr bool symmetric = false;
  using Options = LossOptions;
  static double a(const Options&) { return 0.0; }
  static void check(const ir::InferContext&, const Options&) {}
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::binary_cross_entropy_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::binary_cross_entropy_ref>();
  static constexpr ir::KernelFn fast = ir::kernel_fn<&binary_cross_entropy_simd>();
  static constexpr ir::KernelFn grad_ref = ir::kernel_fn<&f32::binary_cross_entropy_grad_ref>();
  static constexpr ir::KernelFn grad_ref64 = ir::kernel_fn<&f64::binary_cross_entropy_grad_ref>();
  static constexpr ir::KernelFn grad_fast = ir::kernel_fn<&binary_cross_entropy_grad_simd>();
  static constexpr ir::KernelFn target_grad_ref =
      ir::kernel_fn<&f32::binary_cross_entropy_target_grad_ref>();
  static constexpr ir::KernelFn target_grad_ref64 =
      ir::kernel_fn<&f64::binary_cross_entropy_target_grad_ref>();
};

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(binary_cross_entropy) { return ElementLoss<BinaryCrossEntropy>::folder(); }

namespace thimble {

Value binary_cross_entropy(Value x, Value target, Value weight, const LossOptions& options) {
  using Loss = ops::ElementLoss<ops::BinaryCrossEntropy>;
  if (!weight) return Loss::apply(x, target, options);
  return ops::reduce_loss(weight * Loss::apply(x, target, {Reduction::none}), options.reduction);
}

}  // namespace thimble
