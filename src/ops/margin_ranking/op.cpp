#include <thimble/ops/affine.h>
#include <thimble/ops/margin_ranking.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/relu.h>
#include <thimble/ops/sub.h>

#include "ir/graph.h"
#include "ops/families/builder/compose.h"

THIMBLE_OP_FOLDER(margin_ranking) { return {}; }

namespace thimble {

Value margin_ranking(Value a, Value b, Value target, const MarginRankingOptions& options) {
  return ops::reduce_loss(relu(target * (b - a) + options.margin), options.reduction);
}

}  // namespace thimble
