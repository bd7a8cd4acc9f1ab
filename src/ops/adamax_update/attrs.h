#pragma once

#include <thimble/ops/adamax_update.h>

#include "ops/families/update/moments.h"

namespace thimble {

inline void describe(Adamax& a, ir::FieldVisitor& v) {
  ops::describe_moments(a, v,
                        {.beta2 = "share of the largest magnitude that is kept",
                         .epsilon = "added to the gradient's magnitude"});
  v.field("maximize", a.maximize, "go up instead of down");
}

}  // namespace thimble
