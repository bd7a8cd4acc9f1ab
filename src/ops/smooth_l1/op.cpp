#include <thimble/ops/affine.h>
#include <thimble/ops/huber.h>
#include <thimble/ops/mae.h>
#include <thimble/ops/smooth_l1.h>

#include "ir/graph.h"

THIMBLE_OP_FOLDER(smooth_l1) { return {}; }

namespace thimble {

Value smooth_l1(Value prediction, Value target, const SmoothL1Options& options) {
  if (options.beta < 0.0) throw Error("smooth_l1", "beta must be at least 0");
  if (options.beta == 0.0) return mae(prediction, target, {options.reduction});
  const Value loss =
      huber(prediction, target, {.delta = options.beta, .reduction = options.reduction});
  return loss * (1.0 / options.beta);
}

}  // namespace thimble
