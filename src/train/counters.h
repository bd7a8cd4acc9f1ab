// The limit of a training's counters.
#pragma once

#include <cstdint>

namespace thimble::train {

// The most steps, epochs, batches and samples that a file may say were counted, so that the next
// ones do not overflow: no training gets there.
inline constexpr int64_t kMostCount = int64_t{1} << 53;

}  // namespace thimble::train
