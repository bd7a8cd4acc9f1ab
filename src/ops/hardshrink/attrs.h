#pragma once

#include <thimble/ops/hardshrink.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(HardshrinkAttrs& a, ir::FieldVisitor& v) {
  v.field("lambd", a.lambd, "half the width of the interval that becomes 0");
}

}  // namespace thimble
