// Bit masks for the gradients of piecewise linear activations: one bit per element.
#pragma once

#include <thimble/ops/activation_bits.h>

#include "ir/op_def.h"

namespace thimble::ops {

// The mask rule of a gradient op with inputs {dy, kept} whose result is dy where `kept` passes the
// test, else slope * dy, and 0 where the slope is 0.
[[nodiscard]] ir::MaskRule activation_mask(const ActivationBitsAttrs& test, double slope = 0.0);

// The gradient op that reads such a bit mask: the op grad_by_bits of ops/activation_bits.
[[nodiscard]] const OpDef& masking_op();

}  // namespace thimble::ops
