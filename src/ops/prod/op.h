#pragma once

#include <thimble/ops/sum.h>

namespace thimble {

// The product over axes. x: at most 8 dimensions, f32. A product of nothing is 1. The gradient is
// right where elements are 0, too. Throws Error for axes that do not exist.
Value prod(Value x, const ReduceOptions& options = {});

}  // namespace thimble
