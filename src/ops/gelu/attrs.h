#pragma once

#include <thimble/ops/gelu.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(GeluAttrs& a, ir::FieldVisitor& v) {
  v.field("tanh_approximation", a.tanh_approximation, "use the approximation");
}

}  // namespace thimble
