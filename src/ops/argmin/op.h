#pragma once

#include <thimble/ops/argmax.h>

namespace thimble {

using ArgminOptions = ArgmaxOptions;

// The index of the smallest element along an axis, i32. Of equal elements the first counts; NaN
// counts as the smallest, as in torch.argmin. x: f32. It has no gradient. Throws Error for an axis
// that does not exist or is empty.
Value argmin(Value x, const ArgminOptions& options = {});

}  // namespace thimble
