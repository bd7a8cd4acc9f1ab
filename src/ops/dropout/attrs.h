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
  v.field("stream", a.stream, "tells the draws of one step apart");
}

}  // namespace thimble
