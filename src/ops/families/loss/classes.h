// Shared by ops that compare class scores with labels.
#pragma once

#include "ir/op_def.h"
#include "ops/families/loss/class_dims.h"

namespace thimble::ops {

// Fails unless scores are f32 [..., classes] and labels are class indices [...] of i32 or
// probabilities [..., classes] of f32.
void require_classes(const ir::InferContext& c, int scores, int labels);

// Sizes with divisor 1 and k 1.
class_dims class_dims_of(const Shape& scores, DType labels);

}  // namespace thimble::ops
