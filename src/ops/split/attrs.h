#pragma once

#include <thimble/ops/split.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(SplitOptions& a, ir::FieldVisitor& v) {
  v.field("axis", a.axis, "the axis that is cut");
  v.field("sizes", a.sizes, "of the parts along the axis");
}

}  // namespace thimble
