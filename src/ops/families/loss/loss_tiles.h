// How the terms of a loss are split among threads.
#pragma once

#include <cstdint>

namespace thimble::ops {

// Terms that one task sums. Fixed, so that the sum does not depend on the number of threads.
inline constexpr int64_t kLossTile = 8192;

}  // namespace thimble::ops
