// The attributes of batch_norm and batch_norm_update, as generic code sees them.
#pragma once

#include <thimble/ops/batch_norm.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(BatchNormAttrs& a, ir::FieldVisitor& v) {
  v.field("momentum", a.momentum, "weight of a new batch in the running statistics");
  v.field("epsilon", a.epsilon, "added to the variance");
  v.field("activation", a.activation, "applied to the result");
}

namespace ops {

struct BatchNormUpdateAttrs {
  double momentum = 0.1;
  int64_t values = 2;  // number of values from which each channel's statistics were computed
};

inline void describe(BatchNormUpdateAttrs& a, ir::FieldVisitor& v) {
  v.field("momentum", a.momentum, "weight of the batch in the running statistics");
  v.field("values", a.values, "values that each channel's statistics were computed from");
}

}  // namespace ops
}  // namespace thimble
