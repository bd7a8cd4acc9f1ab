// The IDX format of MNIST: a magic number with type and rank, big-endian dimensions, the elements.
#pragma once

#include <string>
#include <vector>

#include "data/array.h"

namespace thimble::data {

// The largest set that a compressed file may unpack to; a larger one is refused as an attack.
inline constexpr int64_t kMaxUnpackedBytes = int64_t{1} << 30;

// The array in an IDX file, plain or gzip. `file` names it in errors. Throws Error if the file is
// not IDX, damaged, or its size is not what its header says.
[[nodiscard]] StoredArray parse_idx(const std::string& file, StoragePtr bytes);
[[nodiscard]] StoredArray parse_idx(const std::string& file, std::vector<std::byte> bytes);

}  // namespace thimble::data
