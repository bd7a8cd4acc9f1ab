// Views of sequences [N, L, C] as images [N, 1, L, C], so that 1-D ops are computed by 2-D ones.
#pragma once

#include <thimble/attributes.h>
#include <thimble/ops/reshape.h>

#include <fmt/format.h>

#include "ir/graph.h"
#include "ir/sizes.h"
#include "ops/families/builder/named_op.h"

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

// The padding at the ends of a sequence.
inline Padding end_padding(const Padding& padding) {
  if (padding.automatic) return padding;
  return {0, 0, padding.left, padding.right};
}

// Throws Error unless x is [N, L, C] and weights are [K, k, C / groups], or [C, k, K / groups] for
// a transposed convolution.
inline void check_sequence_weights(const char* op, Value x, Value weight, int64_t groups,
                                   bool transposed) {
  check_sequence(op, x);
  const Shape& w = weight.shape();
  if (w.rank() != 3) {
    throw Error(op, "expected weights of three dimensions, got " + to_string(w));
  }
  if (groups < 1) throw Error(op, fmt::format("expected at least one group, got {}", groups));
  const int64_t channels = x.shape()[2];
  if ((transposed ? w[0] : ir::bounded_product(w[2], groups)) != channels) {
    throw Error(op, fmt::format("expected weights {} for the {} channels of x and {} group(s), got "
                                "{}",
                                transposed ? "[C, size, K / groups]" : "[K, size, C / groups]",
                                channels, groups, to_string(w)));
  }
}

// Applies a 2-D op to a sequence seen as an image of height 1. Its errors name this op and the
// shapes of the sequence.
template <class Build>
Value sequence_op(const char* op, Value x, Value weight, const Build& build) {
  try {
    return as_sequence(build());
  } catch (const Error& error) {
    const std::string said = error.message();
    throw Error(op, fmt::format("{}; got x {}, weights {}", said.substr(0, said.rfind("; got ")),
                                to_string(x.shape()), to_string(weight.shape())));
  }
}

}  // namespace thimble::ops
