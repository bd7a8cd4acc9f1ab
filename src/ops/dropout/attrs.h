// Attributes of ops that the library alone builds; the tests need them.
#pragma once

#include <thimble/ops/dropout.h>

#include "ir/attrs.h"

namespace thimble {

struct DropoutAttrs {
  double p = 0.5;
  int64_t stream = 0;
};

inline void describe(DropoutAttrs& a, ir::FieldVisitor& v) {
  v.field("p", a.p, "share of elements that become 0");
  v.field("stream", a.stream, "number of this draw within a step, for independent random numbers");
}

}  // namespace thimble
