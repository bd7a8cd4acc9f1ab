#pragma once

#include <thimble/graph.h>

namespace thimble {

struct PairwiseDistanceOptions {
  double p = 2.0;         // of the norm
  double epsilon = 1e-6;  // added to differences
  bool keepdims = false;  // keep the axis with size 1
};

// Distances of vectors: ||a - b + epsilon||_p along the last axis. a, b: shapes that broadcast,
// f32; y: the broadcast shape without the last axis, or with size 1 in its place. Equal to
// torch.nn.functional.pairwise_distance. Throws Error where the shapes do not fit.
Value pairwise_distance(Value a, Value b, const PairwiseDistanceOptions& options = {});

}  // namespace thimble
