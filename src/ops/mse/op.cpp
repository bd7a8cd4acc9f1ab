#include <thimble/ops/mse.h>

#include "ops/families/loss/loss.h"

#define THIMBLE_OP mse
#include "ops/families/builder/both_precisions.h"

LOSS_SIMD_DECLARE(mse)

namespace thimble::ops::mse_impl {
namespace {

struct Mse : PlainLoss {
  LOSS_KERNELS(mse);
  static constexpr const char* doc = "Mean squared error: reduce of (x - t)^2.";
  static constexpr const char* example = "auto loss = mse(prediction, target);";
};

}  // namespace
}  // namespace thimble::ops::mse_impl

THIMBLE_OP_FOLDER(mse) { return ElementLoss<Mse>::folder(); }

namespace thimble {
Value mse(Value prediction, Value target, const LossOptions& options) {
  return ops::ElementLoss<ops::mse_impl::Mse>::apply(prediction, target, options);
}
}  // namespace thimble
