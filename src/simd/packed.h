// The part of packed-inl.h that does not depend on the vector target.
#pragma once

#include <cstdint>

#include "simd/tile.h"

namespace thimble::simd {

inline constexpr int kMostPackedRows = 8;

// Most floats that the panels of a matrix take on any target.
[[nodiscard]] constexpr int64_t packed_floats(int64_t depth, int64_t columns) {
  return depth * (columns + kWidestPanel);
}

}  // namespace thimble::simd
