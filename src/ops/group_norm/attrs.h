// The attributes of group_norm, as generic code sees them.
#pragma once

#include <thimble/ops/group_norm.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(GroupNormAttrs& a, ir::FieldVisitor& v) {
  v.field("groups", a.groups, "of neighbouring channels; divides their number");
  v.field("epsilon", a.epsilon, "added to the variance");
}

namespace ops {

struct GroupNormApplyAttrs {
  double epsilon = 1e-5;
};

inline void describe(GroupNormApplyAttrs& a, ir::FieldVisitor& v) {
  v.field("epsilon", a.epsilon, "added to the variance");
}

}  // namespace ops

}  // namespace thimble
