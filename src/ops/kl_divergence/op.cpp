#include <thimble/ops/kl_divergence.h>

#include "ops/kl_divergence/attrs.h"
#include "ops/kl_divergence/simd.h"

#define THIMBLE_REF "ops/kl_divergence/ref.h"
#include "ops/common/both_precisions.h"

namespace thimble::ops {
namespace {

struct KlDivergence {
  static constexpr const char* name = "kl_divergence";
  static constexpr const char* grad_name = "kl_divergence_grad";
  static constexpr const char* target_grad_name = "kl_divergence_target_grad";
  static constexpr const char* doc =
      "Kullback-Leibler divergence of a distribution from its estimate: reduce of t (log t - x) "
      "with x = log of the estimate; with log_target, of exp(t) (t - x).";
  static constexpr const char* example =
      "auto loss = kl_divergence(log_softmax(logits), target, {.reduction = "
      "Reduction::batch_mean});";
  static constexpr const char* x = "log_estimate";
  static constexpr const char* t = "target";
  static constexpr bool symmetric = false;
  using Options = KlDivergenceOptions;
  static double a(const Options& options) { return options.log_target ? 1.0 : 0.0; }
  static void check(const ir::InferContext&, const Options&) {}
  static constexpr ir::KernelFn ref = ir::kernel_fn<&f32::kl_divergence_ref>();
  static constexpr ir::KernelFn ref64 = ir::kernel_fn<&f64::kl_divergence_ref>();
  static constexpr ir::KernelFn fast = ir::kernel_fn<&kl_divergence_simd>();
  static constexpr ir::KernelFn grad_ref = ir::kernel_fn<&f32::kl_divergence_grad_ref>();
  static constexpr ir::KernelFn grad_ref64 = ir::kernel_fn<&f64::kl_divergence_grad_ref>();
  static constexpr ir::KernelFn grad_fast = ir::kernel_fn<&kl_divergence_grad_simd>();
  static constexpr ir::KernelFn target_grad_ref =
      ir::kernel_fn<&f32::kl_divergence_target_grad_ref>();
  static constexpr ir::KernelFn target_grad_ref64 =
      ir::kernel_fn<&f64::kl_divergence_target_grad_ref>();
};

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(kl_divergence) { return ElementLoss<KlDivergence>::folder(); }

namespace thimble {
Value kl_divergence(Value log_estimate, Value target, const KlDivergenceOptions& options) {
  return ops::ElementLoss<ops::KlDivergence>::apply(log_estimate, target, options);
}
}  // namespace thimble
