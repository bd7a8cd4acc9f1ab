#pragma once

#include <thimble/ops/conv2d.h>

namespace thimble {

// A depthwise convolution layer: every channel has its own window. It is conv2d with as many groups
// as x has channels. options.channels may be 0 (as many as x has) or a multiple of that number;
// options.groups is set by the layer. Parameters and errors as for the layer conv2d; the layer's
// name is depthwise_conv2d_1, ...
Value depthwise_conv2d(Value x, Conv2dOptions options);

// The same with given weights, which creates no parameters. weight: [channels, kh, kw, 1], channels
// a multiple of those of x; bias: [channels], or none; attrs.groups is found.
Value depthwise_conv2d(Value x, Value weight, Value bias, Conv2dAttrs attrs = {},
                       const std::string& name = {});

}  // namespace thimble
