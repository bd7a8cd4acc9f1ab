#pragma once

#include <thimble/ops/loss_scale.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(LossScaleOptions& a, ir::FieldVisitor& v) {
  v.field("growth", a.growth, "factor after `interval` steps with finite gradients");
  v.field("backoff", a.backoff, "factor after a step whose gradients were not finite");
  v.field("interval", a.interval, "steps with finite gradients before the scale grows");
}

}  // namespace thimble
