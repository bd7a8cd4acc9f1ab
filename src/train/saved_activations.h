// How activations are stored for the backward part.
#pragma once

#include <thimble/types.h>

#include "plan/remat/storage.h"

namespace thimble::train {

// f32: unchanged. Throws Error for types other than f32, bf16 and f16.
[[nodiscard]] plan::ActivationStorage saved_activations(DType dtype);

}  // namespace thimble::train
