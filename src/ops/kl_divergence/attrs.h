#pragma once

#include <thimble/ops/kl_divergence.h>

#include "ops/families/loss/loss.h"

namespace thimble {

inline void describe(KlDivergenceOptions& a, ir::FieldVisitor& v) {
  v.field("log_target", a.log_target, "the target is given as logarithms too");
  v.field("reduction", a.reduction, "how the terms become one number");
}

}  // namespace thimble
