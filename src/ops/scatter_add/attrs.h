#pragma once

#include <thimble/ops/scatter_add.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(ScatterAddOptions& a, ir::FieldVisitor& v) {
  v.field("axis", a.axis, "along which indices count; negative counts from the last");
}

inline void describe(GatherGradAttrs& a, ir::FieldVisitor& v) {
  v.field("axis", a.axis, "of gather");
  v.field("shape", a.shape, "of gather's input");
}

}  // namespace thimble
