// What the kernels of quantized convolutions do on microcontrollers (Kernels::device_work).
#pragma once

#include "ir/device_work.h"
#include "ops/quantized_conv2d/dims.h"

namespace thimble::ops {

[[nodiscard]] double conv_products(const conv_dims& d);

// Adds a convolution. has_mask: bits of a mask are set with the results.
void add_convolution(ir::DeviceWork& work, const quantized_conv2d_dims& dims, bool has_mask);

}  // namespace thimble::ops
