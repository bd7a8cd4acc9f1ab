// How the terms of a loss are cut up between threads.
#pragma once

#include <cstdint>

namespace thimble::ops {

// Terms that one task adds up. Fixed, so that the sum does not depend on the threads.
inline constexpr int64_t kLossTile = 8192;

}  // namespace thimble::ops
