#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = min(max(x, 0), 6), element by element. x: any shape, f32.
// Source: Krizhevsky, "Convolutional Deep Belief Networks on CIFAR-10", 2010.
Value relu6(Value x);

}  // namespace thimble
