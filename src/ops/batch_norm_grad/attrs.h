// The attributes of batch_norm_grad, as generic code sees them.
#pragma once

#include <thimble/ops/batch_norm_grad.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(BatchNormGradAttrs& a, ir::FieldVisitor& v) {
  v.field("epsilon", a.epsilon, "added to the variance");
}

}  // namespace thimble
