#pragma once

#include <thimble/ops/adadelta_update.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(Adadelta& a, ir::FieldVisitor& v) {
  v.field("lr", a.lr, "learning rate without a schedule; a step takes its input");
  v.field("rho", a.rho, "share of the averages that is kept");
  v.field("epsilon", a.epsilon, "added to the averages before their roots are taken");
  v.field("weight_decay", a.weight_decay, "added to the gradient, times the parameter");
  v.field("maximize", a.maximize, "go up instead of down");
}

}  // namespace thimble
