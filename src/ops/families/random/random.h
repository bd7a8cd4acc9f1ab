// Shared by the ops that draw random numbers.
#pragma once

#include "ir/graph.h"
#include "ops/families/random/random_dims.h"

namespace thimble::ops {

// Words of the random state: the seed's low and high, the step's low and high, the number of the
// batch's first sample and of its samples. With the last two, part of a batch draws what the whole
// would for these samples, where a tensor's first dimension counts them; both 0: it is the whole.
inline constexpr int64_t kRngWords = 6;

// The random state that every such op reads as its first input.
inline Value rng_of(ir::Graph& graph) {
  return graph.scalar(ir::kRngName, DType::u32, {kRngWords});
}

// A stream that no other node of the graph draws from.
inline int64_t new_stream(const ir::Graph& graph) {
  return static_cast<int64_t>(graph.nodes.size());
}

// The first input is such a state, and the stream fits its 32 bits.
inline void require_rng(const ir::InferContext& c, int64_t stream) {
  c.require_dtype(0, DType::u32);
  c.require(c.shape(0) == Shape{kRngWords}, "expected a random state of 6 words");
  c.require(stream >= 0 && stream <= int64_t{0xFFFFFFFF}, "a stream is a number of 32 bits");
}

inline ir::ArgDoc rng_argument() {
  return {"rng", "[6], u32: {seed low, high, step low, high, first sample, samples}"};
}

}  // namespace thimble::ops
