#pragma once

#include <thimble/ops/leaky_relu.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(LeakyReluAttrs& a, ir::FieldVisitor& v) {
  v.field("slope", a.slope, "for negative x");
}

}  // namespace thimble
