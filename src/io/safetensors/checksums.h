// Checksums of a safetensors file, two entries of its metadata: one sum for each tensor, in the
// order of their bytes, and one over the header, which covers the others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/safetensors/safetensors.h"

namespace thimble::io {

inline constexpr const char* kHeaderChecksum = "checksum_of_header";
inline constexpr const char* kTensorChecksums = "checksums_of_tensors";
inline constexpr size_t kChecksumDigits = 16;

// Of the tensors, in the order of their bytes.
using TensorChecksums = std::vector<uint64_t>;

// Adds both entries; that of the header is zeros until it is sealed.
void add_checksums(Metadata& metadata, const TensorChecksums& sums);
// Puts the sum of a header, which is complete, in the place of the zeros.
void seal_header(std::string& header);

// Takes both entries out of the metadata and compares the header's sum; nothing where the file has
// neither. Throws Error where one of them is missing or does not fit.
[[nodiscard]] std::optional<TensorChecksums> take_checksums(const std::string& file,
                                                            std::string_view header,
                                                            Metadata& metadata);

// Throws Error where the sum of a tensor's bytes is another.
void compare_checksum(const std::string& file, const std::string& tensor, uint64_t wanted,
                      uint64_t found);

}  // namespace thimble::io
