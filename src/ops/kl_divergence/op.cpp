#include <thimble/ops/kl_divergence.h>

#include "ops/families/loss/loss.h"

#define THIMBLE_OP kl_divergence
#include "ops/families/builder/both_precisions.h"

LOSS_SIMD_DECLARE(kl_divergence)

namespace thimble::ops::kl_divergence_impl {
namespace {

struct KlDivergence : PlainLoss {
  LOSS_KERNELS(kl_divergence);
  LOSS_TARGET_GRAD(kl_divergence);
  static constexpr const char* doc =
      "Kullback-Leibler divergence of a distribution from its estimate: reduce of t (log t - x) "
      "with x = log of the estimate; with log_target, of exp(t) (t - x).";
  static constexpr const char* example =
      "auto loss = kl_divergence(log_softmax(logits), target, {.reduction = "
      "Reduction::batch_mean});";
  static constexpr const char* x = "log_estimate";
  static constexpr bool symmetric = false;
  using Options = KlDivergenceOptions;
  static double a(const Options& options) { return options.log_target ? 1.0 : 0.0; }
};

}  // namespace
}  // namespace thimble::ops::kl_divergence_impl

THIMBLE_OP_FOLDER(kl_divergence) { return ElementLoss<KlDivergence>::folder(); }

namespace thimble {

void describe(KlDivergenceOptions& a, ir::FieldVisitor& v) {
  v.field("log_target", a.log_target, "the target is given as logarithms too");
  v.field("reduction", a.reduction, "how the terms become one number");
}
Value kl_divergence(Value log_estimate, Value target, const KlDivergenceOptions& options) {
  return ops::ElementLoss<ops::kl_divergence_impl::KlDivergence>::apply(log_estimate, target,
                                                                        options);
}
}  // namespace thimble
