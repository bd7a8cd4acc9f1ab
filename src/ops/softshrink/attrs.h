#pragma once

#include <thimble/ops/softshrink.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(SoftshrinkAttrs& a, ir::FieldVisitor& v) {
  v.field("lambd", a.lambd, "half the width of the interval that becomes 0");
}

}  // namespace thimble
