#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = max(x, 0), element by element; NaN stays NaN. x: any shape, f32.
Value relu(Value x);

// For the gradients of ops that apply relu to their own result y: 0 where y <= 0, else dy.
// dy, y: one shape.
Value relu_grad(Value dy, Value y);

}  // namespace thimble
