#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble {

struct MatmulAttrs {
  bool transpose_a = false;                  // a is [..., k, m]
  bool transpose_b = false;                  // b is [..., n, k]
  Activation activation = Activation::none;  // applied to the result
};

// y[..., i, j] = act(sum over l of a[..., i, l] * b[..., l, j] + bias[j]).
// a: [..., m, k], b: [..., k, n], bias: [n] or none; y: [..., m, n]; f32. The dimensions before the
// last two must be equal, or one of a and b is a single matrix that serves all the others.
// Errors: Error where the sizes do not fit.
Value matmul(Value a, Value b, const MatmulAttrs& attrs = {});
Value matmul(Value a, Value b, Value bias, const MatmulAttrs& attrs = {});

}  // namespace thimble
