#pragma once

#include <thimble/ops/radam_update.h>

#include "ops/families/update/moments.h"

namespace thimble {

inline void describe(RAdam& a, ir::FieldVisitor& v) {
  ops::describe_moments(a, v);
  v.field("decoupled_weight_decay", a.decoupled_weight_decay,
          "weight decay shrinks the parameter itself");
  v.field("maximize", a.maximize, "go up instead of down");
}

}  // namespace thimble
