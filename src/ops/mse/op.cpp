#include <thimble/ops/mse.h>

#include "ops/mse/attrs.h"

#define THIMBLE_REF "ops/mse/ref.h"
#include "ops/common/both_precisions.h"

LOSS_SIMD_DECLARE(mse)

namespace thimble::ops {
namespace {

struct Mse : PlainLoss {
  LOSS_KERNELS(mse);
  static constexpr const char* doc = "Mean squared error: reduce of (x - t)^2.";
  static constexpr const char* example = "auto loss = mse(prediction, target);";
};

}  // namespace
}  // namespace thimble::ops

THIMBLE_OP_FOLDER(mse) { return ElementLoss<Mse>::folder(); }

namespace thimble {
Value mse(Value prediction, Value target, const LossOptions& options) {
  return ops::ElementLoss<ops::Mse>::apply(prediction, target, options);
}
}  // namespace thimble
