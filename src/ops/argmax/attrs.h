#pragma once

#include <thimble/ops/argmax.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(ArgmaxOptions& a, ir::FieldVisitor& v) {
  v.field("axis", a.axis, "the axis that vanishes");
  v.field("keepdims", a.keepdims, "keep it with size 1");
  v.field("flat", a.flat, "of all elements in their order, whatever the axis");
}

}  // namespace thimble
