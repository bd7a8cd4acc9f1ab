// The attributes of average pooling, as generic code sees them.
#pragma once

#include <thimble/ops/average_pool2d.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(AveragePool2dAttrs& a, ir::FieldVisitor& v) {
  v.field("kernel", a.kernel, "size of the window");
  v.field("stride", a.stride, "places the window moves at a time; 0: its size");
  v.field("padding", a.padding, "zeros around the image");
  v.field("count_include_pad", a.count_include_pad, "divide by the whole window");
  v.field("ceil_mode", a.ceil_mode, "a last window that reaches beyond the padding counts, too");
  v.field("divisor", a.divisor, "divide by this; 0: by the cells");
}

inline void describe(AveragePool2dGradAttrs& a, ir::FieldVisitor& v) {
  v.field("size", a.size, "height and width of the pooling's input");
  v.field("kernel", a.kernel, "of the pooling");
  v.field("stride", a.stride, "of the pooling");
  v.field("padding", a.padding, "of the pooling");
  v.field("count_include_pad", a.count_include_pad, "of the pooling");
  v.field("ceil_mode", a.ceil_mode, "of the pooling");
  v.field("divisor", a.divisor, "of the pooling");
}

}  // namespace thimble
