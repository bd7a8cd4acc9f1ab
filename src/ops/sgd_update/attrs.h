#pragma once

#include <thimble/ops/sgd_update.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(SgdUpdateOptions& a, ir::FieldVisitor& v) {
  v.field("momentum", a.momentum, "share of the buffer that is kept");
  v.field("dampening", a.dampening, "share of the gradient that the buffer leaves out");
  v.field("nesterov", a.nesterov, "look ahead by the momentum");
  v.field("weight_decay", a.weight_decay, "added to the gradient, times the parameter");
  v.field("maximize", a.maximize, "go up instead of down");
  v.field("lr_scale", a.lr_scale, "the learning rate's factor for this parameter");
}

}  // namespace thimble
