// The attributes of conv_transpose2d, as generic code sees them.
#pragma once

#include <thimble/ops/conv_transpose2d.h>

#include "ir/attrs.h"

namespace thimble {

inline void describe(ConvTranspose2dAttrs& a, ir::FieldVisitor& v) {
  v.field("stride", a.stride, "the result is about this many times as large");
  v.field("padding", a.padding, "cells cut off the result");
  v.field("output_padding", a.output_padding, "rows and columns added below and to the right");
  v.field("dilation", a.dilation, "distance between neighbouring taps of the window");
  v.field("groups", a.groups, "equal runs that the channels are split into");
  v.field("activation", a.activation, "applied to the result");
}

}  // namespace thimble
