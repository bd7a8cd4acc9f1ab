#pragma once

#include <thimble/ops/huber.h>

#include "ops/families/loss/loss.h"

namespace thimble {

inline void describe(HuberOptions& a, ir::FieldVisitor& v) {
  v.field("delta", a.delta, "where the parabola becomes a straight line");
  v.field("reduction", a.reduction, "how the terms become one number");
}

}  // namespace thimble
