#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct SoftmaxCrossEntropyOptions {
  Reduction reduction = Reduction::mean;
  double label_smoothing = 0.0;    // fraction of each label that is spread over all classes, 0 to 1
  int64_t ignore_index = -100;     // rows with this class index are ignored
  bool log_probabilities = false;  // the logits are logarithms of probabilities: no softmax (nll)
};
void describe(SoftmaxCrossEntropyOptions& options, ir::FieldVisitor& visitor);

// The cross-entropy between labels and softmax(logits) over the last axis, without overflow:
// reduce over rows of -sum over classes of weight t log softmax(x).
// logits: [N, ..., classes], f32. labels: class indices [N, ...], i32, or probabilities
// [N, ..., classes], f32 (one-hot, say). weight: [classes], f32, what a class counts, or none
// for 1. An index that is neither a class nor ignored makes the loss NaN. The mean is over all
// rows, for class indices over those that are not ignored, weighted; batch_mean divides by N alone.
// No gradient by the weight. Equal to torch.nn.functional.cross_entropy. Throws
// Error where the shapes do not fit.
Value softmax_cross_entropy(Value logits, Value labels, Value weight,
                            const SoftmaxCrossEntropyOptions& options);
Value softmax_cross_entropy(Value logits, Value labels,
                            const SoftmaxCrossEntropyOptions& options = {});

}  // namespace thimble
