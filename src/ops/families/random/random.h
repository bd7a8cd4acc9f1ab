// Shared by ops that draw random numbers.
#pragma once

#include "ir/graph.h"
#include "ops/families/random/random_dims.h"

namespace thimble::ops {

// Words of the random state: the seed's low and high word, the step's low and high word, the index
// of the first sample, and the number of samples. With the last two, a part of a batch draws the
// numbers that the whole batch would draw for these samples, in tensors whose first dimension is
// the batch. Both are 0 for a whole batch.
inline constexpr int64_t kRngWords = 6;

// The random state, which is the first input of every such op.
inline Value rng_of(ir::Graph& graph) {
  return graph.scalar(ir::kRngName, DType::u32, {kRngWords});
}

// The number of a stream that no other node of the graph uses.
inline int64_t new_stream(const ir::Graph& graph) {
  return static_cast<int64_t>(graph.nodes.size());
}

// Fails unless the first input is a random state and the stream is not negative.
inline void require_rng(const ir::InferContext& c, int64_t stream) {
  c.require(c.shape(0) == Shape{kRngWords}, "expected a random state of 6 words");
  c.require(stream >= 0, "the number of a stream is negative");
}

inline ir::ArgDoc rng_argument() {
  return {"rng", "[6], u32: {seed low, high, step low, high, first sample, samples}"};
}

}  // namespace thimble::ops
