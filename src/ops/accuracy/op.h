#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct AccuracyOptions {
  int64_t k = 1;  // the label may be any of the k classes of highest score
};

// The share of rows whose label has the highest score; equal scores rank by index, a NaN score is
// never right. logits: [N, ..., classes], f32. labels: class indices [N, ...], i32, or
// probabilities [N, ..., classes], f32, of which the largest counts. An index that is no class is
// wrong. Result: one number from 0 to 1; it has no gradient.
// Throws Error where the shapes do not fit or k is not in [1, classes].
Value accuracy(Value logits, Value labels, const AccuracyOptions& options = {});

// accuracy with k guesses.
inline Value top_k_accuracy(Value logits, Value labels, int64_t k) {
  return accuracy(logits, labels, {.k = k});
}

}  // namespace thimble
