#pragma once

#include <thimble/ops/hard_tanh.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(HardTanhAttrs& a, ir::FieldVisitor& v) {
  v.field("min_val", a.min_val, "least value");
  v.field("max_val", a.max_val, "largest value");
}

}  // namespace thimble
