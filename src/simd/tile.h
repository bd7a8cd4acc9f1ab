// The part of tile-inl.h that does not depend on the vector target.
#pragma once

namespace thimble::simd {

inline constexpr int kMostTileRows = 8;
inline constexpr int kAllTileRows = 24;  // a multiple of the rows of every tile
inline constexpr int kWidestPanel = 64;  // columns of the widest tile

}  // namespace thimble::simd
