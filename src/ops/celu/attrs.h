#pragma once

#include <thimble/ops/celu.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(CeluAttrs& a, ir::FieldVisitor& v) {
  v.field("alpha", a.alpha, "minus the limit for small x");
}

}  // namespace thimble
