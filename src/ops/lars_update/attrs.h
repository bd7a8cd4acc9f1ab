#pragma once

#include <thimble/ops/lars_update.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(LARS& a, ir::FieldVisitor& v) {
  v.field("lr", a.lr, "learning rate without a schedule; a step takes its input");
  v.field("momentum", a.momentum, "share of the last change that is kept");
  v.field("weight_decay", a.weight_decay, "added to the gradient, times the parameter");
  v.field("trust_coefficient", a.trust_coefficient,
          "how far, of the parameter's norm, a step of rate 1 goes");
  v.field("epsilon", a.epsilon, "added to the gradient's norm");
  v.field("maximize", a.maximize, "go up instead of down");
}

}  // namespace thimble
