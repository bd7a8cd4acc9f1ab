// The attributes of local_response_norm, as generic code sees them.
#pragma once

#include <thimble/ops/local_response_norm.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(LocalResponseNormOptions& a, ir::FieldVisitor& v) {
  v.field("size", a.size, "neighbouring channels");
  v.field("alpha", a.alpha, "weight of their mean square");
  v.field("beta", a.beta, "exponent");
  v.field("k", a.k, "added to the mean square");
}

}  // namespace thimble
