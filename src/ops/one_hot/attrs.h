#pragma once

#include <thimble/ops/one_hot.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(OneHotOptions& a, ir::FieldVisitor& v) {
  v.field("classes", a.classes, "must be set");
}

}  // namespace thimble
