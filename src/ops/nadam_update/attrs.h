#pragma once

#include <thimble/ops/nadam_update.h>

#include "ops/families/update/moments.h"

namespace thimble {

inline void describe(NAdam& a, ir::FieldVisitor& v) {
  ops::describe_moments(a, v);
  v.field("momentum_decay", a.momentum_decay, "of the momentum's warm-up");
  v.field("decoupled_weight_decay", a.decoupled_weight_decay,
          "weight decay shrinks the parameter itself");
  v.field("maximize", a.maximize, "go up instead of down");
}

}  // namespace thimble
