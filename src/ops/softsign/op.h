#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = x / (1 + |x|), element by element. x: any shape, f32.
// Source: Turian et al., "Quadratic Features and Deep Architectures for Chunking", 2009.
Value softsign(Value x);

}  // namespace thimble
