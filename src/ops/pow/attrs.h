#pragma once

#include <thimble/ops/pow.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(PowAttrs& a, ir::FieldVisitor& v) {
  v.field("exponent", a.exponent, "the same for all elements");
}

}  // namespace thimble
