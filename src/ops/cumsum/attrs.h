#pragma once

#include <thimble/ops/cumsum.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(CumsumOptions& a, ir::FieldVisitor& v) {
  v.field("axis", a.axis, "along which to add up; negative counts from the last");
  v.field("reverse", a.reverse, "from the end to the start");
}

}  // namespace thimble
