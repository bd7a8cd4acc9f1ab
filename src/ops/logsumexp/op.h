#pragma once

#include <thimble/ops/sum.h>

namespace thimble {

// log(sum of exp(x)) over axes, without overflow. x: at most 8 dimensions, f32. The gradient is the
// softmax. Equal to torch.logsumexp. Throws Error for axes that do not exist or are empty.
Value logsumexp(Value x, const ReduceOptions& options = {});

}  // namespace thimble
