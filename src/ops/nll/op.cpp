#include <thimble/ops/nll.h>
#include <thimble/ops/softmax_cross_entropy.h>

#include "ir/graph.h"
#include "ops/families/builder/named_op.h"

THIMBLE_OP_FOLDER(nll) { return {}; }

namespace thimble {

Value nll(Value x, Value labels, Value weight, const NllOptions& options) {
  const ir::LayerScope layer(x.graph(), "nll", "");
  return ops::named_op("nll", [&] {
    return softmax_cross_entropy(x, labels, weight,
                                 {.reduction = options.reduction,
                                  .ignore_index = options.ignore_index,
                                  .log_probabilities = true});
  });
}

}  // namespace thimble
