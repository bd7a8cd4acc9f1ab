#pragma once

#include <thimble/ops/average_weights.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(AverageWeightsOptions& a, ir::FieldVisitor& v) {
  v.field("decay", a.decay, "share of the average that is kept");
}

}  // namespace thimble
