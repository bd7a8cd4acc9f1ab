#pragma once

#include <thimble/ops/topk.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(TopkOptions& a, ir::FieldVisitor& v) {
  v.field("k", a.k, "how many, at most the size of the axis");
  v.field("axis", a.axis, "along which they are chosen; negative counts from the last");
  v.field("largest", a.largest, "the largest, else the smallest");
}

}  // namespace thimble
