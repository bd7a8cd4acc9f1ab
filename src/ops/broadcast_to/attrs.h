#pragma once

#include "ir/attrs.h"

namespace thimble {

struct BroadcastToAttrs {
  Shape shape;
};

inline void describe(BroadcastToAttrs& a, ir::FieldVisitor& v) {
  v.field("shape", a.shape, "the shape of the result");
}

}  // namespace thimble
