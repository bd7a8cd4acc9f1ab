#pragma once

#include <thimble/ops/softplus.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(SoftplusAttrs& a, ir::FieldVisitor& v) {
  v.field("beta", a.beta, "sharpness");
  v.field("threshold", a.threshold, "of beta * x, from where on y = x");
}

}  // namespace thimble
