#pragma once

#include <thimble/ops/adamw_update.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(AdamW& a, ir::FieldVisitor& v) {
  v.field("lr", a.lr, "learning rate without a schedule; a step takes its input");
  v.field("beta1", a.beta1, "share of the first moment that is kept");
  v.field("beta2", a.beta2, "share of the second moment that is kept");
  v.field("epsilon", a.epsilon, "added to the root of the second moment");
  v.field("weight_decay", a.weight_decay, "pull towards zero");
  v.field("amsgrad", a.amsgrad, "divide by the largest second moment so far");
  v.field("maximize", a.maximize, "go up instead of down");
  v.field("state_bits", a.state_bits, "of each moment: 32, or 8 in blocks that share a scale");
  v.field("min_8bit_size", a.min_8bit_size, "elements of the smallest tensor state_bits is for");
}

}  // namespace thimble
