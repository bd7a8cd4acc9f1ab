#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble {

// Mean absolute error: reduce of |prediction - target|, with derivative 0 where they are equal.
// Both: any one shape, f32. Throws Error where the shapes differ.
Value mae(Value prediction, Value target, const LossOptions& options = {});

}  // namespace thimble
