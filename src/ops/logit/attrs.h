#pragma once

#include <thimble/ops/logit.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(LogitAttrs& a, ir::FieldVisitor& v) {
  v.field("eps", a.eps, "distance from 0 and 1 that x keeps; below 0 for none");
}

}  // namespace thimble
