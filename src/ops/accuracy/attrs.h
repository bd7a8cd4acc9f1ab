#pragma once

#include <thimble/ops/accuracy.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(AccuracyOptions& a, ir::FieldVisitor& v) {
  v.field("k", a.k, "the label may be any of the k classes of highest score");
}

}  // namespace thimble
