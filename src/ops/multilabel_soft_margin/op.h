#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble {

// Several labels a row: reduce over rows of the mean over classes of -weight (t log sigmoid(x) +
// (1 - t) log(1 - sigmoid(x))). x, target: [N, ..., C], one shape; weight: [C] or none; f32.
// Equal to torch.nn.functional.multilabel_soft_margin_loss. Throws Error where the shapes do not
// fit.
Value multilabel_soft_margin(Value x, Value target, Value weight, const LossOptions& options);
inline Value multilabel_soft_margin(Value x, Value target, const LossOptions& options = {}) {
  return multilabel_soft_margin(x, target, Value(), options);
}

}  // namespace thimble
