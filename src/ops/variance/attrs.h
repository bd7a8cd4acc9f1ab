#pragma once

#include <thimble/ops/variance.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(VarianceOptions& a, ir::FieldVisitor& v) {
  v.field("axes", a.axes, "axes that vanish; none: all");
  v.field("keepdims", a.keepdims, "keep them with size 1");
  v.field("correction", a.correction,
          "taken from the number of elements: 1 for a sample, 0 for all there is");
}

}  // namespace thimble
