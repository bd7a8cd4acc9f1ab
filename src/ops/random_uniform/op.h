#pragma once

#include <thimble/graph.h>

namespace thimble {

struct RandomUniformOptions {
  double low = 0.0;
  double high = 1.0;  // excluded
};

// Uniform random numbers in [low, high), new ones in each step, f32. They depend only on the seed,
// the step and the node's position in the graph (Philox 4x32-10), not on threads or vector width.
// The first form draws a tensor of like's shape. They have no gradient. Throws Error unless low <=
// high, both finite.
Value random_uniform(Value like, const RandomUniformOptions& options = {});
Value random_uniform(Graph& graph, const Shape& shape, const RandomUniformOptions& options = {});

}  // namespace thimble
