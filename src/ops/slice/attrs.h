#pragma once

#include <thimble/ops/slice.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(SliceOptions& a, ir::FieldVisitor& v) {
  v.field("axes", a.axes, "the axes cut; none: the first ones");
  v.field("starts", a.starts, "first index of each");
  v.field("stops", a.stops, "one past the last index of each");
  v.field("steps", a.steps, "from one index to the next; none: 1; below 0: backwards");
}

struct SliceGradAttrs {
  Shape shape;  // shape of slice's input
  SliceOptions options;
};

inline void describe(SliceGradAttrs& a, ir::FieldVisitor& v) {
  v.field("shape", a.shape, "the shape of slice's input");
  describe(a.options, v);
}

}  // namespace thimble
