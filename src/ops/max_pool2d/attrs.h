// The attributes of max pooling, as generic code sees them.
#pragma once

#include <thimble/ops/max_pool2d.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(MaxPool2dAttrs& a, ir::FieldVisitor& v) {
  v.field("kernel", a.kernel, "size of the window");
  v.field("stride", a.stride, "places the window moves at a time; 0: its size");
  v.field("padding", a.padding, "cells around the image that are never the largest");
  v.field("dilation", a.dilation, "from one cell of the window to the next");
  v.field("ceil_mode", a.ceil_mode, "a last window that reaches beyond the padding counts, too");
}

inline void describe(MaxPool2dGradAttrs& a, ir::FieldVisitor& v) {
  v.field("size", a.size, "height and width of the pooling's input");
  v.field("kernel", a.kernel, "of the pooling");
  v.field("stride", a.stride, "of the pooling");
  v.field("padding", a.padding, "of the pooling");
  v.field("dilation", a.dilation, "of the pooling");
  v.field("ceil_mode", a.ceil_mode, "of the pooling");
}

}  // namespace thimble
