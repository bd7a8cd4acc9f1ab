#pragma once

#include <thimble/ops/conv2d.h>

namespace thimble {

// A depthwise convolution layer: every channel has its own window, conv2d with as many groups as x
// has channels. options.channels may be 0 (as many as x has) or a multiple of that number;
// options.groups is found. Parameters and errors as for the layer conv2d; the layer's name is
// depthwise_conv2d_1, ...
Value depthwise_conv2d(Value x, Conv2dOptions options);

}  // namespace thimble
