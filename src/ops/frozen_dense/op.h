#pragma once

#include <thimble/graph.h>

namespace thimble {

struct FrozenDenseAttrs {
  bool transpose_b = true;  // the weight is [units, features]; else [features, units]
};
void describe(FrozenDenseAttrs& attrs, ir::FieldVisitor& visitor);

// A dense layer whose weight is stored in a narrow type and never trained: y = x W^T + b. Every
// element of W is made f32, exactly, where it is used, so that W takes no more memory than its own;
// sums are of f32.
// x: [..., features], f32; weight: two dimensions (see transpose_b) of bf16, f16, i8 or i4; scales:
// f32 [rows of the weight, groups] or none: each row of the weight is divided into groups of equal
// length, whose elements are multiplied by a scale of their own; bias: [units] or none; y:
// [..., units]. Gradients reach x and the bias.
// Errors: Error where sizes do not fit, or rows of i4 have an odd length.
Value frozen_dense(Value x, Value weight, Value scales = Value(), Value bias = Value(),
                   const FrozenDenseAttrs& attrs = {});

}  // namespace thimble
