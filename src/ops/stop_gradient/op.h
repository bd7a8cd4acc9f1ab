#pragma once

#include <thimble/graph.h>

namespace thimble {

// x itself, without a gradient (torch.Tensor.detach). x: any type and shape. Takes no memory: the
// result shares the memory of x.
Value stop_gradient(Value x);

}  // namespace thimble
