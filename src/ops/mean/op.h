#pragma once

#include <thimble/ops/sum.h>

namespace thimble {

// The mean over axes. x: at most 8 dimensions, of a floating type, or of booleans or integers of at
// most 16 bits, whose mean is f32. A mean of nothing is NaN.
// Throws Error for axes that do not exist.
Value mean(Value x, const ReduceOptions& options = {});

}  // namespace thimble
