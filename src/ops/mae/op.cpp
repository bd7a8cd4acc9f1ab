#include <thimble/ops/mae.h>

#include "ops/families/loss/loss.h"

#define THIMBLE_OP mae
#include "ops/families/builder/both_precisions.h"

LOSS_SIMD_DECLARE(mae)

namespace thimble::ops::mae_impl {
namespace {

struct Mae : PlainLoss {
  LOSS_KERNELS(mae);
  static constexpr const char* doc =
      "Mean absolute error: reduce of |x - t|; its derivative at 0 is 0.";
  static constexpr const char* example = "auto loss = mae(prediction, target);";
};

}  // namespace
}  // namespace thimble::ops::mae_impl

THIMBLE_OP_FOLDER(mae) { return ElementLoss<Mae>::folder(); }

namespace thimble {
Value mae(Value prediction, Value target, const LossOptions& options) {
  return ops::ElementLoss<ops::mae_impl::Mae>::apply(prediction, target, options);
}
}  // namespace thimble
