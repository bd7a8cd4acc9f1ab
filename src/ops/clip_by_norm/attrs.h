#pragma once

#include <thimble/ops/clip_by_norm.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(ClipByNormOptions& a, ir::FieldVisitor& v) {
  v.field("max_norm", a.max_norm, "the largest norm that stays as it is");
}

}  // namespace thimble
