#pragma once

#include <thimble/ops/affine.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(AffineAttrs& a, ir::FieldVisitor& v) {
  v.field("scale", a.scale, "what x is multiplied with");
  v.field("shift", a.shift, "what is then added");
}

}  // namespace thimble
