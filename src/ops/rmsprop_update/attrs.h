#pragma once

#include <thimble/ops/rmsprop_update.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(RMSProp& a, ir::FieldVisitor& v) {
  v.field("lr", a.lr, "learning rate without a schedule; a step takes its input");
  v.field("alpha", a.alpha, "share of the averages that is kept");
  v.field("epsilon", a.epsilon, "keeps the divisor from 0");
  v.field("momentum", a.momentum, "share of the buffer that is kept");
  v.field("centered", a.centered, "divide by the root of the variance, not of the mean square");
  v.field("weight_decay", a.weight_decay, "added to the gradient, times the parameter");
  v.field("maximize", a.maximize, "go up instead of down");
  v.field("epsilon_inside_root", a.epsilon_inside_root,
          "divide by sqrt(v + epsilon), not by sqrt(v) + epsilon");
}

}  // namespace thimble
