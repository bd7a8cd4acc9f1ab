#pragma once

#include <thimble/ops/gaussian_kl.h>

#include "ops/families/loss/loss.h"

namespace thimble {

inline void describe(GaussianKlOptions& a, ir::FieldVisitor& v) {
  v.field("reduction", a.reduction, "how the terms become one number");
}

}  // namespace thimble
