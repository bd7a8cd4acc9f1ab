#pragma once

#include <thimble/ops/glu.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(GluOptions& a, ir::FieldVisitor& v) {
  v.field("axis", a.axis, "whose halves are a and b; negative counts from the last");
}

}  // namespace thimble
