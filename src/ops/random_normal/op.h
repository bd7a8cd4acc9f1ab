#pragma once

#include <thimble/graph.h>

namespace thimble {

struct RandomNormalOptions {
  double mean = 0.0;
  double stddev = 1.0;
};

// Normally distributed random numbers, new ones in each step, f32. They depend only on the seed,
// the step and the node's position in the graph (Philox 4x32-10, then Box and Muller 1958), not on
// threads; no number is further than 5.8 standard deviations from the mean. The first form draws a
// tensor of like's shape. They have no gradient. Throws Error unless mean and stddev are finite and
// stddev is not negative.
Value random_normal(Value like, const RandomNormalOptions& options = {});
Value random_normal(Graph& graph, const Shape& shape, const RandomNormalOptions& options = {});

}  // namespace thimble
