// Attributes of ops that the library alone builds; the tests need them.
#pragma once

#include <thimble/ops/group_norm.h>

#include "ir/attrs.h"

namespace thimble::ops {

struct GroupNormApplyAttrs {
  double epsilon = 1e-5;
};

inline void describe(GroupNormApplyAttrs& a, ir::FieldVisitor& v) {
  v.field("epsilon", a.epsilon, "added to the variance");
}

}  // namespace thimble::ops
