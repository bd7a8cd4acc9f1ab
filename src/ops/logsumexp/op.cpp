#include <thimble/ops/add.h>
#include <thimble/ops/clip.h>
#include <thimble/ops/exp.h>
#include <thimble/ops/log.h>
#include <thimble/ops/logsumexp.h>
#include <thimble/ops/max.h>
#include <thimble/ops/reshape.h>
#include <thimble/ops/stop_gradient.h>
#include <thimble/ops/sub.h>

#include <limits>

#include "ir/graph.h"

THIMBLE_OP_FOLDER(logsumexp) { return {}; }

namespace thimble {

Value logsumexp(Value x, const ReduceOptions& options) {
  // Finite, so that infinity is never subtracted from infinity.
  constexpr double kMost = std::numeric_limits<float>::max();
  const Value largest = max(stop_gradient(x), {.axes = options.axes, .keepdims = true});
  const Value level = clip(largest, {.low = -kMost, .high = kMost});
  const Value rest = sum(exp(x - level), options);
  return log(rest) + (options.keepdims ? level : reshape(level, rest.shape()));
}

}  // namespace thimble
