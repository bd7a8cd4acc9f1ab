#pragma once

#include <thimble/ops/ctc.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(CtcOptions& a, ir::FieldVisitor& v) {
  v.field("reduction", a.reduction, "how the losses of the batch become one number");
  v.field("blank", a.blank, "the class of the blank, which is no symbol");
  v.field("zero_infinity", a.zero_infinity,
          "targets too long for their sequence count 0, with no gradient");
}

}  // namespace thimble
