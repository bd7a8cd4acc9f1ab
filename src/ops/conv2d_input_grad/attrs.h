// The attributes of conv2d_input_grad, as generic code sees them.
#pragma once

#include <thimble/ops/conv2d_input_grad.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(Conv2dInputGradAttrs& a, ir::FieldVisitor& v) {
  v.field("size", a.size, "height and width of the convolution's input");
  v.field("stride", a.stride, "of the convolution");
  v.field("padding", a.padding, "of the convolution");
  v.field("dilation", a.dilation, "of the convolution");
  v.field("groups", a.groups, "of the convolution");
}

}  // namespace thimble
