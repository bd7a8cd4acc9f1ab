#pragma once

#include <thimble/ops/argmax.h>

namespace thimble {

using ArgminOptions = ArgmaxOptions;

// The index of the smallest element along an axis, i32; of equal ones the first, and NaN counts as
// the smallest, as torch.argmin. x: f32. No gradient flows through it.
// Throws Error for an axis that does not exist or is empty.
Value argmin(Value x, const ArgminOptions& options = {});

}  // namespace thimble
