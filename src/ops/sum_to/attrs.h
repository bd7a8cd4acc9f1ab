// Attributes of ops that the library alone builds; the tests need them.
#pragma once

#include "ir/attrs.h"

namespace thimble {

struct SumToAttrs {
  Shape shape;
};

inline void describe(SumToAttrs& a, ir::FieldVisitor& v) {
  v.field("shape", a.shape, "the shape of the result");
}

}  // namespace thimble
