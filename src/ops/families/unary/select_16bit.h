// Gradients of activations on f16 and bf16 that pass each element of dy through or replace it by 0:
// the kept element decides by its bits, and nothing is converted.
#pragma once

#include "ir/kernel.h"

namespace thimble::ops {

// Kernels of ir::Kernels::fast_16bit for {dy, y}: dx = 0 where y <= 0, or y >= ceiling, else dy;
// NaN passes. Inputs and output may share memory. Neither throws nor allocates.
void select_above_zero_16bit(const ir::KernelCall& call);
void select_between_16bit(const ir::KernelCall& call, float ceiling);

}  // namespace thimble::ops
