#pragma once

#include <thimble/ops/flip.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(FlipOptions& a, ir::FieldVisitor& v) {
  v.field("axes", a.axes, "turned around; negative ones count from the last");
}

}  // namespace thimble
