#pragma once

#include <thimble/ops/elu.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(EluAttrs& a, ir::FieldVisitor& v) {
  v.field("alpha", a.alpha, "minus the limit for small x");
}

}  // namespace thimble
