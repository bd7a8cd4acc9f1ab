#pragma once

#include <thimble/ops/pad.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(PadOptions& a, ir::FieldVisitor& v) {
  v.field("before", a.before, "elements before each axis");
  v.field("after", a.after, "elements after each axis");
  v.field("value", a.value, "what they hold");
}

}  // namespace thimble
