#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct NllOptions {
  Reduction reduction = Reduction::mean;
  int64_t ignore_index = -100;  // rows with this class index are ignored
};

// Negative log likelihood: reduce over rows of -weight[label] x[label]. x: [N, ..., classes],
// f32, logarithms of probabilities (log_softmax gives them; from logits rather
// softmax_cross_entropy); labels: class indices [N, ...], i32; weight: [classes], f32, or none.
// The mean is over rows that are not ignored, weighted. Equal to torch.nn.functional.nll_loss.
// Throws Error where the shapes do not fit.
Value nll(Value x, Value labels, Value weight, const NllOptions& options);
inline Value nll(Value x, Value labels, const NllOptions& options = {}) {
  return nll(x, labels, Value(), options);
}

}  // namespace thimble
