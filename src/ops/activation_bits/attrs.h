// The attributes of activation_bits and grad_by_bits, as generic code sees them.
#pragma once

#include <thimble/ops/activation_bits.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(ActivationBitsAttrs& a, ir::FieldVisitor& v) {
  static constexpr const char* kTests[] = {"above", "above_or_nan", "inside", "within", "outside"};
  v.enumeration("test", a.test, kTests, "what a bit says");
  v.field("low", a.low, "the lower bound");
  v.field("high", a.high, "the upper bound, where the test has one");
}

inline void describe(GradByBitsAttrs& a, ir::FieldVisitor& v) {
  v.field("slope", a.slope, "factor where the bit is not set; 0: the gradient is 0");
}

}  // namespace thimble
