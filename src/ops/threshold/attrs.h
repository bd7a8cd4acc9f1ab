#pragma once

#include <thimble/ops/threshold.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(ThresholdAttrs& a, ir::FieldVisitor& v) {
  v.field("threshold", a.threshold, "what x must exceed");
  v.field("value", a.value, "value of the other elements");
}

}  // namespace thimble
