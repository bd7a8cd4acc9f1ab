#pragma once

#include <thimble/ops/adafactor_update.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(Adafactor& a, ir::FieldVisitor& v) {
  v.field("lr", a.lr, "learning rate without a schedule; a step takes its input");
  v.field("beta2_decay", a.beta2_decay, "the second moment takes step^beta2_decay of the new");
  v.field("epsilon1", a.epsilon1, "smallest root of a second moment");
  v.field("epsilon2", a.epsilon2, "smallest scale of a parameter");
  v.field("d", a.d, "largest root of the mean square of a step");
  v.field("weight_decay", a.weight_decay, "shrinks the parameter itself");
  v.field("maximize", a.maximize, "go up instead of down");
}

}  // namespace thimble
