#pragma once

#include <thimble/attributes.h>
#include <thimble/graph.h>

namespace thimble {

// Attributes of the convolution whose gradient is computed.
struct Conv2dWeightGradAttrs {
  Pair kernel;  // height and width of its weights
  Pair stride = 1;
  Padding padding;
  Pair dilation = 1;
  int64_t groups = 1;
  // Where x holds only some input channels of the convolution (of a depthwise one, dy as well): how
  // many that has. Each sum then has the bits that it has in the gradient of all. 0: x holds all.
  int64_t whole_channels = 0;
};
void describe(Conv2dWeightGradAttrs& attrs, ir::FieldVisitor& visitor);

// The gradient of conv2d by its weights.
// x: [N, H, W, C], its input; dy: [N, P, Q, K], the gradient of its result;
// returns dw: [K, kernel.h, kernel.w, C / groups]; f32. Errors: Error where sizes do not fit.
Value conv2d_weight_grad(Value x, Value dy, const Conv2dWeightGradAttrs& attrs);

}  // namespace thimble
