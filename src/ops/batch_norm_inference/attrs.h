// The attributes of batch_norm_inference, as generic code sees them.
#pragma once

#include <thimble/ops/batch_norm_inference.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(BatchNormInferenceAttrs& a, ir::FieldVisitor& v) {
  v.field("epsilon", a.epsilon, "added to the variance");
  v.field("activation", a.activation, "applied to the result");
}

}  // namespace thimble
