// Which vector targets this build holds; tests run every one of them.
#pragma once

#include <cstdint>

namespace thimble::simd {

// Bits as hwy::SupportedTargets() returns them, of the targets compiled into the library.
[[nodiscard]] int64_t compiled_targets();

}  // namespace thimble::simd
