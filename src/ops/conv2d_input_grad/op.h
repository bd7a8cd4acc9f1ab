#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble {

// Attributes of the convolution whose gradient is computed.
struct Conv2dInputGradAttrs {
  Pair size;  // height and width of its input
  Pair stride = 1;
  Padding padding;
  Pair dilation = 1;
  int64_t groups = 1;
};
void describe(Conv2dInputGradAttrs& attrs, ir::FieldVisitor& visitor);

// The gradient of conv2d by its input: the adjoint of x -> conv2d(x, weight).
// dy: [N, P, Q, K], the gradient of its result; weight: [K, kh, kw, C / groups];
// returns dx: [N, size.h, size.w, C]; f32. Errors: Error where sizes do not fit.
Value conv2d_input_grad(Value dy, Value weight, const Conv2dInputGradAttrs& attrs);

}  // namespace thimble
