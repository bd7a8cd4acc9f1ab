#pragma once

#include <thimble/ops/clamp.h>

#include "ir/attrs.h"

namespace thimble::ops {

struct ClampGradAttrs {
  int64_t input = 0;  // the input whose gradient is computed: 0 x, 1 low, 2 high
};

inline void describe(ClampGradAttrs& a, ir::FieldVisitor& v) {
  v.field("input", a.input, "whose gradient is taken: 0 x, 1 low, 2 high");
}

}  // namespace thimble::ops
