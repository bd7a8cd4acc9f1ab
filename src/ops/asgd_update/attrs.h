#pragma once

#include <thimble/ops/asgd_update.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(ASGD& a, ir::FieldVisitor& v) {
  v.field("lr", a.lr, "learning rate without a schedule; a step takes its input");
  v.field("lambd", a.lambd, "pull towards zero, times the rate");
  v.field("alpha", a.alpha, "power of the rate's decay");
  v.field("t0", a.t0, "the step after which averages begin");
  v.field("weight_decay", a.weight_decay, "added to the gradient, times the parameter");
  v.field("maximize", a.maximize, "go up instead of down");
}

}  // namespace thimble
