#pragma once

#include <thimble/ops/sign_sgd_update.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(SignSGD& a, ir::FieldVisitor& v) {
  v.field("lr", a.lr, "learning rate without a schedule; a step takes its input");
  v.field("momentum", a.momentum, "share of the gradients' average that is kept");
  v.field("weight_decay", a.weight_decay, "added to the gradient, times the parameter");
  v.field("decoupled_weight_decay", a.decoupled_weight_decay,
          "weight decay shrinks the parameter itself");
  v.field("maximize", a.maximize, "go up instead of down");
}

}  // namespace thimble
