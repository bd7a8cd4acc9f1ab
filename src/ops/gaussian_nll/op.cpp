#include <thimble/ops/add.h>
#include <thimble/ops/affine.h>
#include <thimble/ops/clip.h>
#include <thimble/ops/div.h>
#include <thimble/ops/gaussian_nll.h>
#include <thimble/ops/log.h>
#include <thimble/ops/square.h>
#include <thimble/ops/sub.h>

#include <limits>

#include "ir/graph.h"
#include "ops/families/builder/compose.h"

THIMBLE_OP_FOLDER(gaussian_nll) { return {}; }

namespace thimble {

Value gaussian_nll(Value mean, Value target, Value variance, const GaussianNllOptions& options) {
  const Value v =
      clip(variance, {.low = options.epsilon, .high = std::numeric_limits<float>::max()});
  const Value terms = 0.5 * (log(v) + square(mean - target) / v);
  const double constant = options.full ? 0.91893853320467274 : 0.0;
  return ops::reduce_loss(terms + constant, options.reduction);
}

}  // namespace thimble
