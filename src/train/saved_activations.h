// How activations wait for the backward part, as a trainer is told.
#pragma once

#include <thimble/types.h>

#include "plan/remat/activations_16bit.h"

namespace thimble::train {

// f32: as they are. Throws Error for types other than f32, bf16 and f16.
[[nodiscard]] plan::ActivationStorage saved_activations(DType dtype);

}  // namespace thimble::train
