// The attributes of rms_norm, as generic code sees them.
#pragma once

#include <thimble/ops/rms_norm.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(RmsNormAttrs& a, ir::FieldVisitor& v) {
  v.field("dims", a.dims, "how many of the last dimensions are normalised together");
  v.field("epsilon", a.epsilon, "added to the mean of squares");
}

}  // namespace thimble
