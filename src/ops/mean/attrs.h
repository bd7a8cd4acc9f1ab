#pragma once

#include "ir/attrs.h"

namespace thimble {

struct MeanGradAttrs {
  Shape shape;                // shape of mean's input
  std::vector<int64_t> axes;  // axes of mean
};

inline void describe(MeanGradAttrs& a, ir::FieldVisitor& v) {
  v.field("shape", a.shape, "the shape of mean's input");
  v.field("axes", a.axes, "the axes averaged over; none: all");
}

}  // namespace thimble
