#pragma once

#include <thimble/ops/sum.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(ReduceOptions& a, ir::FieldVisitor& v) {
  v.field("axes", a.axes, "the axes that vanish; none: all");
  v.field("keepdims", a.keepdims, "keep them with size 1");
}

}  // namespace thimble
