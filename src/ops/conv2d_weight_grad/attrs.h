// The attributes of conv2d_weight_grad, as generic code sees them.
#pragma once

#include <thimble/ops/conv2d_weight_grad.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(Conv2dWeightGradAttrs& a, ir::FieldVisitor& v) {
  v.field("kernel", a.kernel, "height and width of the convolution's weights");
  v.field("stride", a.stride, "of the convolution");
  v.field("padding", a.padding, "of the convolution");
  v.field("dilation", a.dilation, "of the convolution");
  v.field("groups", a.groups, "of the convolution");
}

}  // namespace thimble
