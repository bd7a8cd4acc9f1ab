#pragma once

#include <thimble/ops/rprop_update.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(Rprop& a, ir::FieldVisitor& v) {
  v.field("lr", a.lr, "first size of every step, without a schedule; a step takes its input");
  v.field("eta_minus", a.eta_minus, "factor of a size where the gradient has turned");
  v.field("eta_plus", a.eta_plus, "factor of a size where it has not");
  v.field("step_size_min", a.step_size_min, "smallest size of a step");
  v.field("step_size_max", a.step_size_max, "largest size of a step");
  v.field("maximize", a.maximize, "go up instead of down");
}

}  // namespace thimble
