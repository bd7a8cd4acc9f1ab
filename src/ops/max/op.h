#pragma once

#include <thimble/ops/sum.h>

namespace thimble {

// The largest element over axes; NaN where one of them is NaN. x: at most 8 dimensions, f32.
// The gradient goes in equal shares to all elements that are the largest (as torch.amax).
// Throws Error for axes that do not exist and for the largest of nothing.
Value max(Value x, const ReduceOptions& options = {});

}  // namespace thimble
