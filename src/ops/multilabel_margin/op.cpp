#include <thimble/error.h>
#include <thimble/ops/affine.h>
#include <thimble/ops/cast.h>
#include <thimble/ops/compare.h>
#include <thimble/ops/cumsum.h>
#include <thimble/ops/gather.h>
#include <thimble/ops/max.h>
#include <thimble/ops/mul.h>
#include <thimble/ops/multilabel_margin.h>
#include <thimble/ops/one_hot.h>
#include <thimble/ops/relu.h>
#include <thimble/ops/reshape.h>
#include <thimble/ops/sub.h>
#include <thimble/ops/sum.h>

#include "ir/graph.h"
#include "ops/families/builder/compose.h"

THIMBLE_OP_FOLDER(multilabel_margin) { return {}; }

namespace thimble {

Value multilabel_margin(Value x, Value labels, const LossOptions& options) {
  const Shape& shape = x.shape();
  if (shape.rank() != 2 || labels.shape() != shape) {
    throw Error("multilabel_margin", "expected x and labels of one shape [N, C], got " +
                                         to_string(shape) + ", " + to_string(labels.shape()));
  }
  const int64_t classes = shape[1];
  const Value zero = ops::number(x, 0.0);
  const Value number = cast(labels, DType::f32);
  const Value ended = cumsum(cast(lt(number, zero), DType::f32), {.axis = 1});
  const Value counts = cast(eq(ended, zero), DType::f32);
  // [N, label, class]: 1 for the class of each label.
  const Value own = one_hot(labels, {.classes = classes}) * reshape(counts, {-1, classes, 1});
  const Value others = 1.0 - max(own, {.axes = {1}});
  // NaN for a label that is no class.
  const Value lead = gather(x, cast(number * counts, DType::i32), {.axis = 1});
  const Value behind = relu(reshape(x, {-1, 1, classes}) - reshape(lead, {-1, classes, 1}) + 1.0);
  const Value pairs =
      behind * (reshape(counts, {-1, classes, 1}) * reshape(others, {-1, 1, classes}));
  const Value terms = sum(pairs, {.axes = {1, 2}}) * (1.0 / static_cast<double>(classes));
  return ops::reduce_loss(terms, options.reduction);
}

}  // namespace thimble
