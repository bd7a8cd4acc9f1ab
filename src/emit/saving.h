// The C functions that save and load a model's state.
#pragma once

#include <cstdint>
#include <string>

namespace thimble::emit {

// Bytes of a saved model beside its state: header and checksum.
inline constexpr int64_t kSavedBytesBeside = 44;

// Definitions of thimble_save, thimble_load and thimble_version, which returns this text.
// layout: a number that a saved state must agree with.
[[nodiscard]] std::string saving_source(int64_t state_bytes, uint64_t layout,
                                        const std::string& version);

}  // namespace thimble::emit
