#pragma once

#include <thimble/ops/norm.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(NormOptions& a, ir::FieldVisitor& v) {
  v.field("axes", a.axes, "axes that vanish; none: all");
  v.field("keepdims", a.keepdims, "keep them with size 1");
  v.field("p", a.p, "exponent; 0, infinity and -infinity too");
}

}  // namespace thimble
