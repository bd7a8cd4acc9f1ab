#pragma once

#include <thimble/ops/softmax_cross_entropy.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(SoftmaxCrossEntropyOptions& a, ir::FieldVisitor& v) {
  v.field("reduction", a.reduction, "how the rows become one number");
  v.field("label_smoothing", a.label_smoothing,
          "share of each label that is spread over all classes, 0 to 1");
  v.field("ignore_index", a.ignore_index, "class index of rows that count nothing");
  v.field("log_probabilities", a.log_probabilities,
          "the logits are logarithms of probabilities: no softmax");
}

}  // namespace thimble
