// Sequences [N, L, C] as images [N, 1, L, C], so that 1-D ops are 2-D ones; both are views.
#pragma once

#include <thimble/attributes.h>
#include <thimble/ops/reshape.h>

#include "ir/graph.h"

namespace thimble::ops {

// Throws Error unless x is [N, L, C].
inline void check_sequence(const char* op, Value x) {
  if (x.shape().rank() != 3) {
    throw Error(op, "expected sequences [N, L, C], got " + to_string(x.shape()));
  }
}

// [N, L, C] as [N, 1, L, C]; weights [K, k, C] as [K, 1, k, C] too.
inline Value as_image(Value x) {
  const Shape& s = x.shape();
  return reshape(x, {s[0], 1, s[1], s[2]});
}

// [N, 1, L, C] as [N, L, C].
inline Value as_sequence(Value x) {
  const Shape& s = x.shape();
  return reshape(x, {s[0], s[2], s[3]});
}

// The padding of a sequence's ends.
inline Padding end_padding(const Padding& padding) {
  if (padding.automatic) return padding;
  return {0, 0, padding.left, padding.right};
}

// Throws Error unless weights are [outer, k, inner / groups].
inline void check_sequence_weights(const char* op, Value weight) {
  if (weight.shape().rank() != 3) {
    throw Error(op, "expected weights of three dimensions, got " + to_string(weight.shape()));
  }
}

}  // namespace thimble::ops
