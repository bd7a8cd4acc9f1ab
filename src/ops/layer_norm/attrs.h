// The attributes of layer_norm, as generic code sees them.
#pragma once

#include <thimble/ops/layer_norm.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(LayerNormAttrs& a, ir::FieldVisitor& v) {
  v.field("dims", a.dims, "how many of the last dimensions are normalised together");
  v.field("epsilon", a.epsilon, "added to the variance");
}

}  // namespace thimble
