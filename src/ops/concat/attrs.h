#pragma once

#include <thimble/ops/concat.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(ConcatOptions& a, ir::FieldVisitor& v) {
  v.field("axis", a.axis, "the axis along which the parts lie");
}

}  // namespace thimble
