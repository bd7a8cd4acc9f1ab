// The attributes of instance_norm and instance_norm_update, as generic code sees them.
#pragma once

#include <thimble/ops/instance_norm.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(InstanceNormAttrs& a, ir::FieldVisitor& v) {
  v.field("epsilon", a.epsilon, "added to the variance");
}

namespace ops {

struct InstanceNormUpdateAttrs {
  double momentum = 0.1;
  int64_t values = 2;  // number of values from which each statistic was computed
};

inline void describe(InstanceNormUpdateAttrs& a, ir::FieldVisitor& v) {
  v.field("momentum", a.momentum, "weight of the batch in the running statistics");
  v.field("values", a.values, "values that each statistic was computed from");
}

}  // namespace ops
}  // namespace thimble
