#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble {

// The cross-entropy between labels and softmax(logits) over the last axis, without overflow:
// reduce over rows of -sum over classes of t log softmax(x).
// logits: [N, ..., classes], f32. labels: class indices [N, ...], i32, or probabilities
// [N, ..., classes], f32 (one-hot, say). An index that is no class makes the loss NaN. The mean is
// over all rows, batch_mean divides by N alone. No gradient by the labels.
// Throws Error where the shapes do not fit.
Value softmax_cross_entropy(Value logits, Value labels, const LossOptions& options = {});

}  // namespace thimble
