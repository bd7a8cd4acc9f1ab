// Attributes of ops that the library alone builds; the tests need them.
#pragma once

#include "ir/attrs.h"

namespace thimble {

struct TransposeAttrs {
  std::vector<int64_t> axes;
};

inline void describe(TransposeAttrs& a, ir::FieldVisitor& v) {
  v.field("axes", a.axes, "axis i of the result is axis axes[i] of x; none: reversed");
}

}  // namespace thimble
