#pragma once

#include <thimble/graph.h>

namespace thimble {

struct DropoutOptions {
  double p = 0.5;  // fraction of elements that become 0
};

// In training each element becomes 0 with probability p and the others are divided by 1 - p; at
// inference nothing happens. The mask depends only on the seed, the step and the node's position in
// the graph; backward recomputes it instead of keeping it. x: any shape, f32. Throws Error unless 0
// <= p <= 1. Source: Srivastava et al. 2014.
Value dropout(Value x, const DropoutOptions& options = {});

}  // namespace thimble
