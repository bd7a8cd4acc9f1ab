// The attributes of matmul, as generic code sees them.
#pragma once

#include <thimble/ops/matmul.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(MatmulAttrs& a, ir::FieldVisitor& v) {
  v.field("transpose_a", a.transpose_a, "a is [..., k, m]");
  v.field("transpose_b", a.transpose_b, "b is [..., n, k]");
  v.field("activation", a.activation, "applied to the result");
}

}  // namespace thimble
