// The options of convolution layers, as generic code sees them.
#pragma once

#include <thimble/ops/conv2d.h>

#include "ir/function_def.h"

namespace thimble {

inline void describe(Conv2dOptions& o, ir::OptionVisitor& v) {
  v.field("channels", o.channels, "of the result; must be set");
  v.field("kernel", o.kernel, "height and width of the window");
  v.field("stride", o.stride, "places the window moves at a time");
  v.field("padding", o.padding, "zeros around the image");
  v.field("dilation", o.dilation, "distance between neighbouring taps of the window");
  v.field("groups", o.groups, "divides both numbers of channels");
  v.field("bias", o.bias, "with a bias");
  v.field("weight_init", o.weight_init, "first values of the weight");
  v.field("bias_init", o.bias_init,
          "first values of the bias; none: U(-1/sqrt(fan_in), 1/sqrt(fan_in))");
  v.field("name", o.name, "of the layer; empty: numbered");
}

}  // namespace thimble
