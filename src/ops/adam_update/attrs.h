#pragma once

#include <thimble/ops/adam_update.h>

#include "ops/families/update/moments.h"

namespace thimble {

inline void describe(Adam& a, ir::FieldVisitor& v) {
  ops::describe_moments(a, v);
  v.field("amsgrad", a.amsgrad, "divide by the largest second moment so far");
  v.field("maximize", a.maximize, "go up instead of down");
  v.field("state_bits", a.state_bits, "of each moment: 32, or 8 in blocks that share a scale");
  v.field("min_8bit_size", a.min_8bit_size, "elements of the smallest tensor state_bits is for");
  v.field("decoupled_weight_decay", a.decoupled_weight_decay,
          "weight decay shrinks the parameter itself");
}

}  // namespace thimble
