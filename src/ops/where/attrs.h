#pragma once

#include <thimble/ops/where.h>

#include "ir/attrs.h"

namespace thimble::ops {

struct WhereGradAttrs {
  bool holds = true;  // whether dy passes where the condition holds, or where it does not
};

inline void describe(WhereGradAttrs& a, ir::FieldVisitor& v) {
  v.field("holds", a.holds, "dy where the condition holds, else where it does not");
}

}  // namespace thimble::ops
