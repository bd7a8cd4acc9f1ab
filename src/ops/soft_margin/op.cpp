#include <thimble/ops/log_sigmoid.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/neg.h>
#include <thimble/ops/soft_margin.h>

#include "ir/graph.h"
#include "ops/families/builder/compose.h"

THIMBLE_OP_FOLDER(soft_margin) { return {}; }

namespace thimble {

Value soft_margin(Value x, Value target, const LossOptions& options) {
  return ops::reduce_loss(-log_sigmoid(x * target), options.reduction);
}

}  // namespace thimble
