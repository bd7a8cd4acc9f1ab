#pragma once

#include <thimble/ops/gather.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(GatherOptions& a, ir::FieldVisitor& v) {
  v.field("axis", a.axis, "along which indices count; negative counts from the last");
}

}  // namespace thimble
