// What does not depend on the vector target in packed-inl.h.
#pragma once

#include <cstdint>

#include "simd/tile.h"

namespace thimble::simd {

inline constexpr int kMostPackedRows = 8;

// Floats that the panels of a matrix take at most.
[[nodiscard]] constexpr int64_t packed_floats(int64_t depth, int64_t columns) {
  return depth * (columns + kWidestPanel);
}

}  // namespace thimble::simd
