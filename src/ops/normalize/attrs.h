// The attributes of normalize, as generic code sees them.
#pragma once

#include <thimble/ops/normalize.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(NormalizeOptions& a, ir::FieldVisitor& v) {
  v.field("axis", a.axis, "along which norms are taken; negative counts from the last");
  v.field("p", a.p, "of the norm, above 0");
  v.field("epsilon", a.epsilon, "the least divisor");
}

}  // namespace thimble
