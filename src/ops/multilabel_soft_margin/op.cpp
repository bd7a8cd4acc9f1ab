#include <thimble/ops/binary_cross_entropy_with_logits.h>
#include <thimble/ops/mean.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/multilabel_soft_margin.h>

#include "ir/graph.h"
#include "ops/families/builder/compose.h"

THIMBLE_OP_FOLDER(multilabel_soft_margin) { return {}; }

namespace thimble {

Value multilabel_soft_margin(Value x, Value target, Value weight, const LossOptions& options) {
  Value terms = binary_cross_entropy_with_logits(x, target, {Reduction::none});
  if (weight) terms = terms * weight;
  return ops::reduce_loss(mean(terms, {.axes = {-1}}), options.reduction);
}

}  // namespace thimble
