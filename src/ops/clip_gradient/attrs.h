#pragma once

#include <thimble/ops/clip_gradient.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(ClipByNormOptions& a, ir::FieldVisitor& v) {
  v.field("max_norm", a.max_norm, "the largest norm that is not scaled down");
}

inline void describe(ClipByValueOptions& a, ir::FieldVisitor& v) {
  v.field("limit", a.limit, "the largest magnitude that is not clipped");
}

}  // namespace thimble
