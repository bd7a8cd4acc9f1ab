#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble {

struct MatmulAttrs {
  bool transpose_a = false;                  // a is [..., k, m]
  bool transpose_b = false;                  // b is [..., n, k]
  Activation activation = Activation::none;  // applied to the result
};
void describe(MatmulAttrs& attrs, ir::FieldVisitor& visitor);

// y[..., i, j] = act(sum over l of a[..., i, l] * b[..., l, j] + bias[j]).
// a: [..., m, k], b: [..., k, n], bias: [n] or none; y: [..., m, n]; f32. The dimensions before the
// last two broadcast as in NumPy; an operand of one dimension is a row a or a column b, and y is
// without that dimension. Sums of nothing are 0.
// Errors: Error where the sizes do not fit.
Value matmul(Value a, Value b, const MatmulAttrs& attrs = {});
Value matmul(Value a, Value b, Value bias, const MatmulAttrs& attrs = {});

}  // namespace thimble
