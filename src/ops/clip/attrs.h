#pragma once

#include <thimble/ops/clip.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(ClipAttrs& a, ir::FieldVisitor& v) {
  v.field("low", a.low, "least value");
  v.field("high", a.high, "largest value");
}

}  // namespace thimble
