#pragma once

#include <thimble/ops/regularize_gradient.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(RegularizeGradientOptions& a, ir::FieldVisitor& v) {
  v.field("l1", a.l1, "of the sum of magnitudes");
  v.field("l2", a.l2, "of half the sum of squares");
}

}  // namespace thimble
