// The contents of a store as tensors of a file.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "exec/memory.h"
#include "io/safetensors/safetensors.h"

namespace thimble::train {

// How a file holds an i4: one that is mapped (ir/mapped.h) as it lies in memory, two in a byte, so
// that the file is half as large and can be mapped. The tensor is then one of u8, its last
// dimension half as long, or where that is odd a vector. Others are as io::file_dtype says; so is
// what files held before.
[[nodiscard]] Shape packed_shape(const Shape& shape);
// Whether a file's tensor holds a value of this type in either way, and whether in the first one.
[[nodiscard]] bool is_held(const io::TensorView& tensor, const ir::TensorType& type);
[[nodiscard]] bool is_held_packed(const io::TensorView& tensor, const ir::TensorType& type);

// Fetches the contents of an entry when it is written; store and entry must outlive it. unpacked:
// holds the elements of a packed type until the next one is fetched; all tensors of a file share
// it.
using Unpacked = std::shared_ptr<std::vector<std::byte>>;
[[nodiscard]] io::TensorView stored_tensor(const exec::Store& store,
                                           const exec::Store::Entry& entry,
                                           const Unpacked& unpacked);

}  // namespace thimble::train
