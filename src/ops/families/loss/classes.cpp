#include "ops/families/loss/classes.h"

namespace thimble::ops {

void require_classes(const ir::InferContext& c, int scores, int labels) {
  const Shape& x = c.shape(scores);
  const ir::TensorType& t = c.input(labels);
  c.require(x.rank() > 0 && x[-1] > 0, "expected scores of at least one class in the last axis");
  if (t.dtype == DType::i32) {
    std::vector<int64_t> rows = x.dims();
    rows.pop_back();
    c.require(t.shape == Shape(rows),
              "expected one class index a row: shape " + to_string(Shape(rows)));
  } else {
    c.require(t.shape == x, "expected one probability a class: shape " + to_string(x));
  }
}

class_dims class_dims_of(const Shape& scores, DType labels) {
  const int classes = static_cast<int>(scores[-1]);
  const int rows = static_cast<int>(scores.elements() / classes);
  return {rows, classes, labels == DType::i32 ? 1 : 0, 1, 1};
}

}  // namespace thimble::ops
