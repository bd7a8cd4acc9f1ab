// The attributes of to_half, as generic code sees them.
#pragma once

#include <thimble/ops/half_storage.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(ToHalfAttrs& a, ir::FieldVisitor& v) {
  v.field("dtype", a.dtype, "f16 or bf16");
}

}  // namespace thimble
