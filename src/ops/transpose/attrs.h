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

// Axis i of the result as an axis of x, which has `rank` of them, from 0 on.
[[nodiscard]] inline std::vector<int64_t> transposed_axes(const TransposeAttrs& a, int rank) {
  std::vector<int64_t> axes = a.axes;
  if (axes.empty()) {
    for (int axis = rank - 1; axis >= 0; --axis) axes.push_back(axis);
  }
  for (int64_t& axis : axes) axis = axis < 0 ? axis + rank : axis;
  return axes;
}

}  // namespace thimble
