#pragma once

#include <thimble/ops/lion_update.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(Lion& a, ir::FieldVisitor& v) {
  v.field("lr", a.lr, "learning rate without a schedule; a step takes its input");
  v.field("beta1", a.beta1, "share of the moment in the direction of a step");
  v.field("beta2", a.beta2, "share of the moment that is kept");
  v.field("weight_decay", a.weight_decay, "shrinks the parameter itself");
  v.field("maximize", a.maximize, "go up instead of down");
}

}  // namespace thimble
