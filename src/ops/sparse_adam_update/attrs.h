#pragma once

#include <thimble/ops/sparse_adam_update.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(SparseAdam& a, ir::FieldVisitor& v) {
  v.field("lr", a.lr, "learning rate without a schedule; a step takes its input");
  v.field("beta1", a.beta1, "share of the first moment that is kept");
  v.field("beta2", a.beta2, "share of the second moment that is kept");
  v.field("epsilon", a.epsilon, "added to the root of the second moment, biased as it is");
  v.field("maximize", a.maximize, "go up instead of down");
}

}  // namespace thimble
