#pragma once

#include <thimble/graph.h>

namespace thimble {

// x itself, through which no gradient flows (torch.Tensor.detach). x: any type and shape. Takes no
// memory: the result lies where x lies.
Value stop_gradient(Value x);

}  // namespace thimble
