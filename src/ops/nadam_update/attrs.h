#pragma once

#include <thimble/ops/nadam_update.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(NAdam& a, ir::FieldVisitor& v) {
  v.field("lr", a.lr, "learning rate without a schedule; a step takes its input");
  v.field("beta1", a.beta1, "share of the first moment that is kept");
  v.field("beta2", a.beta2, "share of the second moment that is kept");
  v.field("epsilon", a.epsilon, "added to the root of the second moment");
  v.field("weight_decay", a.weight_decay, "added to the gradient, times the parameter");
  v.field("momentum_decay", a.momentum_decay, "of the momentum's warm-up");
  v.field("decoupled_weight_decay", a.decoupled_weight_decay,
          "weight decay shrinks the parameter itself");
  v.field("maximize", a.maximize, "go up instead of down");
}

}  // namespace thimble
