#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble {

// Mean squared error: reduce of (prediction - target)^2. Both: any one shape, f32.
// Throws Error where the shapes differ.
Value mse(Value prediction, Value target, const LossOptions& options = {});

}  // namespace thimble
