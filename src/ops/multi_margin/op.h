#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble {

struct MultiMarginOptions {
  double p = 1.0;       // exponent: 1 or 2
  double margin = 1.0;  // by which the label must lead
  Reduction reduction = Reduction::mean;
};

// Multi-class margin loss: reduce over rows of the sum over classes c other than the label of
// weight[label] max(0, margin - x[label] + x[c])^p / C. x: [N, C], f32; labels: [N], i32, one that
// is no class makes the loss NaN; weight: [C], f32, or none; p: 1 or 2. Equal to
// torch.nn.functional.multi_margin_loss. Throws Error where the shapes do not fit.
Value multi_margin(Value x, Value labels, Value weight, const MultiMarginOptions& options);
inline Value multi_margin(Value x, Value labels, const MultiMarginOptions& options = {}) {
  return multi_margin(x, labels, Value(), options);
}

}  // namespace thimble
