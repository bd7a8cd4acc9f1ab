#include <thimble/error.h>
#include <thimble/ops/affine.h>
#include <thimble/ops/gather.h>
#include <thimble/ops/index_select.h>
#include <thimble/ops/mean.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/multi_margin.h>
#include <thimble/ops/one_hot.h>
#include <thimble/ops/relu.h>
#include <thimble/ops/reshape.h>
#include <thimble/ops/square.h>
#include <thimble/ops/sub.h>

#include "ir/graph.h"
#include "ops/families/builder/compose.h"
#include "ops/families/builder/named_op.h"

THIMBLE_OP_FOLDER(multi_margin) { return {}; }

namespace thimble {

Value multi_margin(Value x, Value labels, Value weight, const MultiMarginOptions& options) {
  if (x.shape().rank() != 2 || labels.shape() != Shape{x.shape()[0]}) {
    throw Error("multi_margin", "expected x of shape [N, C] and labels of shape [N], got " +
                                    to_string(x.shape()) + ", " + to_string(labels.shape()));
  }
  if (options.p != 1.0 && options.p != 2.0) throw Error("multi_margin", "expected p of 1 or 2");
  const ir::LayerScope layer(x.graph(), "multi_margin", "");
  const int64_t classes = x.shape()[1];
  const Value own = ops::named_op("multi_margin", [&] {
    return gather(x, reshape(labels, {-1, 1}), {.axis = 1});
  });
  const Value others = 1.0 - one_hot(labels, {.classes = classes});
  Value terms = relu(x - own + options.margin) * others;
  if (options.p == 2.0) terms = square(terms);
  terms = mean(terms, {.axes = {1}});
  if (weight) {
    terms = terms * ops::named_op("multi_margin", [&] { return index_select(weight, labels); });
  }
  return ops::reduce_loss(terms, options.reduction);
}

}  // namespace thimble
