#include <thimble/ops/add.h>
#include <thimble/ops/affine.h>
#include <thimble/ops/compare.h>
#include <thimble/ops/hinge_embedding.h>
#include <thimble/ops/relu.h>
#include <thimble/ops/where.h>

#include "ir/graph.h"
#include "ops/families/builder/compose.h"

THIMBLE_OP_FOLDER(hinge_embedding) { return {}; }

namespace thimble {

Value hinge_embedding(Value x, Value target, const HingeEmbeddingOptions& options) {
  const Value nothing = ops::number(x, 0.0);
  const Value like = where(ne(target, ops::number(x, -1.0)), x, nothing);
  const Value unlike = where(ne(target, ops::number(x, 1.0)), relu(options.margin - x), nothing);
  return ops::reduce_loss(like + unlike, options.reduction);
}

}  // namespace thimble
