// The attributes of conv2d, as generic code sees them.
#pragma once

#include <thimble/ops/conv2d.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(Conv2dAttrs& a, ir::FieldVisitor& v) {
  v.field("stride", a.stride, "places the window moves at a time");
  v.field("padding", a.padding, "zeros around the image");
  v.field("dilation", a.dilation, "distance between neighbouring taps of the window");
  v.field("groups", a.groups, "equal runs that the channels are split into");
  v.field("activation", a.activation, "applied to the result");
}

}  // namespace thimble
