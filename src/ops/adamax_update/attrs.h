#pragma once

#include <thimble/ops/adamax_update.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(Adamax& a, ir::FieldVisitor& v) {
  v.field("lr", a.lr, "learning rate without a schedule; a step takes its input");
  v.field("beta1", a.beta1, "share of the first moment that is kept");
  v.field("beta2", a.beta2, "share of the largest magnitude that is kept");
  v.field("epsilon", a.epsilon, "added to the gradient's magnitude");
  v.field("weight_decay", a.weight_decay, "added to the gradient, times the parameter");
  v.field("maximize", a.maximize, "go up instead of down");
}

}  // namespace thimble
