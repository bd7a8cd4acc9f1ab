#pragma once

#include <thimble/ops/adamw_update.h>

#include "ops/families/update/moments.h"

namespace thimble {

inline void describe(AdamW& a, ir::FieldVisitor& v) {
  ops::describe_moments(a, v, {.weight_decay = "pull towards zero"});
  v.field("amsgrad", a.amsgrad, "divide by the largest second moment so far");
  v.field("maximize", a.maximize, "go up instead of down");
  v.field("state_bits", a.state_bits, "of each moment: 32, or 8 in blocks that share a scale");
  v.field("min_8bit_size", a.min_8bit_size, "elements of the smallest tensor state_bits is for");
}

}  // namespace thimble
