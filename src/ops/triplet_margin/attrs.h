#pragma once

#include <thimble/ops/triplet_margin.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(TripletMarginOptions& a, ir::FieldVisitor& v) {
  v.field("reduction", a.reduction, "how the rows become one number");
  v.field("margin", a.margin, "by which negatives must be farther away");
  v.field("p", a.p, "of the norm, at least 1");
  v.field("epsilon", a.epsilon, "added to differences");
  v.field("swap", a.swap, "the negative's distance to the nearer of anchor and positive");
}

}  // namespace thimble
