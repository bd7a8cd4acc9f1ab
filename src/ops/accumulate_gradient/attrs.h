#pragma once

#include <thimble/ops/accumulate_gradient.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(AccumulateGradientOptions& a, ir::FieldVisitor& v) {
  v.field("weight", a.weight, "of this gradient in the sum");
}

}  // namespace thimble
