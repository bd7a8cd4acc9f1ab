#pragma once

#include <thimble/ops/cumprod.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(CumprodOptions& a, ir::FieldVisitor& v) {
  v.field("axis", a.axis, "along which to multiply");
}

}  // namespace thimble
