// Attributes of ops that the library alone builds; the tests need them.
#pragma once

#include "ir/attrs.h"

namespace thimble {

struct ReshapeAttrs {
  Shape shape;
};

inline void describe(ReshapeAttrs& a, ir::FieldVisitor& v) {
  v.field("shape", a.shape, "the new shape; one dimension may be -1");
}

}  // namespace thimble
