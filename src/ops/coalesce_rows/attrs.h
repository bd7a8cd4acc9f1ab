// The attributes of coalesce_rows and dense_rows, as generic code sees them.
#pragma once

#include <thimble/ops/coalesce_rows.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(CoalesceRowsAttrs& a, ir::FieldVisitor& v) {
  v.field("rows", a.rows, "of the whole gradient");
  v.field("padding_idx", a.padding_idx, "rows of this index are left out; -1: none are");
  v.field("mean", a.mean, "means instead of sums");
}

struct DenseRowsAttrs {
  int64_t rows = 0;
};

inline void describe(DenseRowsAttrs& a, ir::FieldVisitor& v) {
  v.field("rows", a.rows, "of the whole gradient");
}

}  // namespace thimble
