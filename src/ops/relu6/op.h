#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = min(max(x, 0), 6), element by element. x: any shape, f32.
// Source: Krizhevsky, "Convolutional Deep Belief Networks on CIFAR-10", 2010.
Value relu6(Value x);

// For the gradients of ops that apply relu6 to their own result y: 0 where y <= 0 or y >= 6, else
// dy. dy, y: one shape.
Value relu6_grad(Value dy, Value y);

}  // namespace thimble
