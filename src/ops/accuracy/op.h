#pragma once

#include <thimble/graph.h>

#include <cstdint>

namespace thimble {

struct AccuracyOptions {
  int64_t k = 1;  // the label may be any of the k classes with the highest scores
};
void describe(AccuracyOptions& options, ir::FieldVisitor& visitor);

// The fraction of rows whose label has the highest score. Of equal scores the lowest index wins; a
// NaN score never counts as correct. logits: [N, ..., classes], f32. labels: class indices [N,
// ...], i32, or probabilities [N, ..., classes], f32, of which the largest is the label. An index
// that is no class counts as wrong. Result: one number from 0 to 1; it has no gradient. Throws
// Error if the shapes do not match or k is not in [1, classes].
Value accuracy(Value logits, Value labels, const AccuracyOptions& options = {});

// accuracy with k guesses per row.
inline Value top_k_accuracy(Value logits, Value labels, int64_t k) {
  return accuracy(logits, labels, {.k = k});
}

}  // namespace thimble
