// NumPy's .npy format (numpy.lib.format, versions 1 to 3).
#pragma once

#include <string>
#include <vector>

#include "data/array.h"

namespace thimble::data {

// The array in an .npy file. Throws Error if the file is not .npy, damaged, of
// the wrong size, or holds something else than a C-ordered array of numbers of rank 1 or more.
[[nodiscard]] StoredArray parse_npy(const std::string& file, StoragePtr bytes);
[[nodiscard]] StoredArray parse_npy(const std::string& file, std::vector<std::byte> bytes);

}  // namespace thimble::data
