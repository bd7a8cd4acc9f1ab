// Bit masks for the gradients of piecewise linear activations: one bit per element.
#pragma once

#include <thimble/ops/activation_bits.h>

#include "ir/op_def.h"

namespace thimble::ops {

// For a gradient op of the inputs {dy, kept} that is dy where `kept` passes the test, else
// slope * dy, and 0 where the slope is 0.
[[nodiscard]] ir::MaskRule activation_mask(const ActivationBitsAttrs& test, double slope = 0.0);

}  // namespace thimble::ops
