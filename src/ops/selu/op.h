#pragma once

#include <thimble/graph.h>

namespace thimble {

// y = s * x for x > 0, else s * a * (exp(x) - 1), with s = 1.0507..., a = 1.6732..., element by
// element. x: any shape, f32. Source: Klambauer et al., "Self-Normalizing Neural Networks", 2017.
Value selu(Value x);

}  // namespace thimble
