// The vector targets of this build; tests run all of them.
#pragma once

#include <cstdint>

namespace thimble::simd {

// Targets compiled into the library, as bits like those of hwy::SupportedTargets().
[[nodiscard]] int64_t compiled_targets();

// False if the library was compiled for this machine's better twin alone (THIMBLE_VECTOR_TARGET).
[[nodiscard]] bool has_kernels_for_this_processor();

}  // namespace thimble::simd
