// The vector targets of this build; tests run all of them.
#pragma once

#include <cstdint>

namespace thimble::simd {

// Targets compiled into the library, as bits like those of hwy::SupportedTargets().
[[nodiscard]] int64_t compiled_targets();

}  // namespace thimble::simd
