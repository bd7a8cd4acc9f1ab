#pragma once

#include <thimble/graph.h>
#include <thimble/ops/affine.h>

namespace thimble {

// y = 1 / x, element by element. x: any shape, f32.
Value reciprocal(Value x);

// A number divided by a tensor: as in PyTorch the product with the reciprocal, so that the last bit
// may differ from that of a quotient.
inline Value operator/(double c, Value x) { return c == 1.0 ? reciprocal(x) : c * reciprocal(x); }

}  // namespace thimble
