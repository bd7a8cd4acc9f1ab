#pragma once

#include <thimble/ops/sgd_update.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(SGD& a, ir::FieldVisitor& v) {
  v.field("lr", a.lr, "learning rate without a schedule; a step takes its input");
  v.field("momentum", a.momentum, "share of the buffer that is kept");
  v.field("dampening", a.dampening, "share of the gradient that the buffer leaves out");
  v.field("nesterov", a.nesterov, "look ahead by the momentum");
  v.field("weight_decay", a.weight_decay, "added to the gradient, times the parameter");
  v.field("maximize", a.maximize, "go up instead of down");
}

}  // namespace thimble
