#pragma once

#include <thimble/ops/softmax.h>

namespace thimble {

// y = x - log(sum of exp(x)) over an axis, computed without overflow: the logarithm of softmax.
// x: any shape of at least one dimension, f32. Throws Error for an axis that does not exist.
Value log_softmax(Value x, const SoftmaxOptions& options = {});

}  // namespace thimble
