// The contents of a store as tensors of a file.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "exec/memory.h"
#include "io/safetensors/safetensors.h"

namespace thimble::train {

// Fetches the contents of an entry when it is written; store and entry must outlive it. unpacked:
// holds the elements of a packed type until the next one is fetched; all tensors of a file share
// it.
using Unpacked = std::shared_ptr<std::vector<std::byte>>;
[[nodiscard]] io::TensorView stored_tensor(const exec::Store& store,
                                           const exec::Store::Entry& entry,
                                           const Unpacked& unpacked);

}  // namespace thimble::train
