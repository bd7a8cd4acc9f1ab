#pragma once

#include <thimble/ops/lamb_update.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(LAMB& a, ir::FieldVisitor& v) {
  v.field("lr", a.lr, "learning rate without a schedule; a step takes its input");
  v.field("beta1", a.beta1, "share of the first moment that is kept");
  v.field("beta2", a.beta2, "share of the second moment that is kept");
  v.field("epsilon", a.epsilon, "added to the root of the second moment");
  v.field("weight_decay", a.weight_decay, "added to Adam's step, times the parameter");
  v.field("maximize", a.maximize, "go up instead of down");
}

}  // namespace thimble
