// The contents of a store as tensors of a file.
#pragma once

#include "exec/memory.h"
#include "io/safetensors/safetensors.h"

namespace thimble::train {

// Fetches the contents of an entry when it is written; store and entry must outlive it.
[[nodiscard]] io::TensorView stored_tensor(const exec::Store& store,
                                           const exec::Store::Entry& entry);

}  // namespace thimble::train
