// The attributes of update_in_parts: two ops with theirs.
#pragma once

#include "ops/families/builder/inner_op.h"

namespace thimble::ops {

struct UpdateInPartsAttrs {
  InnerOp gradient;
  InnerOp update;
  int64_t rows = 0;  // of the gradient at a time
};

inline void describe(UpdateInPartsAttrs& a, ir::FieldVisitor& v) {
  static const std::vector<const char*> gradients =
      names_of_ops([](const OpDef& op) { return op.memory.part.rows != nullptr; });
  static const std::vector<const char*> updates =
      names_of_ops([](const OpDef& op) { return op.optimizer.elementwise; });
  describe_inner(a.gradient, "gradient", gradients, "the op that computes the gradient", v);
  describe_inner(a.update, "update", updates, "the optimizer's rule", v);
  v.field("rows", a.rows, "of the gradient at a time");
}

}  // namespace thimble::ops
