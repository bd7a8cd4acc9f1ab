#include <thimble/ops/add.h>
#include <thimble/ops/affine.h>
#include <thimble/ops/compare.h>
#include <thimble/ops/exp.h>
#include <thimble/ops/log.h>
#include <thimble/ops/maximum.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/poisson_nll.h>
#include <thimble/ops/sub.h>
#include <thimble/ops/where.h>

#include "ir/graph.h"
#include "ops/families/builder/compose.h"

THIMBLE_OP_FOLDER(poisson_nll) { return {}; }

namespace thimble {

Value poisson_nll(Value x, Value target, const PoissonNllOptions& options) {
  ops::require_same_shape("poisson_nll", x, target);
  Value terms = options.log_input ? exp(x) - target * x : x - target * log(x + options.epsilon);
  if (options.full) {
    const Value one = ops::number(x, 1.0);
    const Value t = maximum(target, one);
    const Value stirling = t * log(t) - t + 0.5 * log(t * 6.283185307179586);
    terms = terms + where(gt(target, one), stirling, ops::number(x, 0.0));
  }
  return ops::reduce_loss(terms, options.reduction);
}

}  // namespace thimble
