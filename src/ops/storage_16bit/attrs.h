// The attributes of to_16bit, as generic code sees them.
#pragma once

#include <thimble/ops/storage_16bit.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(To16BitAttrs& a, ir::FieldVisitor& v) {
  v.field("dtype", a.dtype, "f16 or bf16");
}

}  // namespace thimble
