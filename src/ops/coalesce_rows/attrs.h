// Attributes of ops that the library alone builds; the tests need them.
#pragma once

#include <thimble/ops/coalesce_rows.h>

#include "ir/attrs.h"

namespace thimble {

struct DenseRowsAttrs {
  int64_t rows = 0;
};

inline void describe(DenseRowsAttrs& a, ir::FieldVisitor& v) {
  v.field("rows", a.rows, "of the whole gradient");
}

}  // namespace thimble
