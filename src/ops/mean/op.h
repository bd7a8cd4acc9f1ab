#pragma once

#include <thimble/ops/sum.h>

namespace thimble {

// The mean over axes. x: at most 8 dimensions, f32. A mean of nothing is NaN.
// Throws Error for axes that do not exist.
Value mean(Value x, const ReduceOptions& options = {});

}  // namespace thimble
