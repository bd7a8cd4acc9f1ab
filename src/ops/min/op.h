#pragma once

#include <thimble/ops/sum.h>

namespace thimble {

// The smallest element over axes; NaN where one of them is NaN. x: at most 8 dimensions, f32.
// The gradient goes in equal shares to all elements that are the smallest (as torch.amin).
// Throws Error for axes that do not exist and for the smallest of nothing.
Value min(Value x, const ReduceOptions& options = {});

}  // namespace thimble
