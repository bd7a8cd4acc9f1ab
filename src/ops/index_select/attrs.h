#pragma once

#include <thimble/ops/index_select.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(IndexSelectOptions& a, ir::FieldVisitor& v) {
  v.field("axis", a.axis, "whose slices are taken; negative counts from the last");
}

struct IndexSelectGradAttrs {
  int64_t axis = 0;
  int64_t size = 0;  // size of the axis in index_select's input
};

inline void describe(IndexSelectGradAttrs& a, ir::FieldVisitor& v) {
  v.field("axis", a.axis, "of index_select");
  v.field("size", a.size, "of the axis in index_select's input");
}

}  // namespace thimble
