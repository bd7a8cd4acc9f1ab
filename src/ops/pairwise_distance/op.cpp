#include <thimble/ops/affine.h>
#include <thimble/ops/norm.h>
#include <thimble/ops/pairwise_distance.h>
#include <thimble/ops/sub.h>

#include "ir/graph.h"

THIMBLE_OP_FOLDER(pairwise_distance) { return {}; }

namespace thimble {

Value pairwise_distance(Value a, Value b, const PairwiseDistanceOptions& options) {
  return norm(a - b + options.epsilon,
              {.axes = {-1}, .keepdims = options.keepdims, .p = options.p});
}

}  // namespace thimble
