#pragma once

#include <thimble/ops/lamb_update.h>

#include "ops/families/update/moments.h"

namespace thimble {

inline void describe(LAMB& a, ir::FieldVisitor& v) {
  ops::describe_moments(a, v, {.weight_decay = "added to Adam's step, times the parameter"});
  v.field("maximize", a.maximize, "go up instead of down");
}

}  // namespace thimble
