// A matrix that is packed once and multiplied by a few rows many times, such as the weights of a
// recurrent layer. Included once per vector target.

#if defined(THIMBLE_SIMD_PACKED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_PACKED_INL_H_
#undef THIMBLE_SIMD_PACKED_INL_H_
#else
#define THIMBLE_SIMD_PACKED_INL_H_
#endif

#include <algorithm>

#include "parallel/thread_pool.h"
#include "simd/pack-inl.h"
#include "simd/packed.h"
#include "simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

// Vectors per panel: with three, a tile has eight rows and fills the registers.
inline constexpr int kPackedVectors = kMaxVectors > 2 ? 3 : kMaxVectors;
inline constexpr int kPackedWidth = kPackedVectors * lanes();
// Rows of a full tile, at most kMostPackedRows.
inline constexpr int kPackedRows = tile_rows(kPackedVectors);
static_assert(kPackedRows <= kMostPackedRows && kPackedWidth <= kWidestPanel);

// b, [depth, columns], as panels of kPackedWidth columns.
struct PackedMatrix {
  float* panels;
  int64_t depth;
  int columns;
};

// from: b row-major, or its transpose [columns, depth].
inline void pack_matrix(const PackedMatrix& b, const float* from, bool transposed,
                        parallel::ThreadPool& pool) {
  pool.run((b.columns + kPackedWidth - 1) / kPackedWidth, [&](int64_t panel) HWY_ATTR {
    const auto column = static_cast<int>(panel) * kPackedWidth;
    const int columns = std::min(kPackedWidth, b.columns - column);
    float* const to = b.panels + column * b.depth;
    if (transposed) {
      pack_transposed(to, kPackedWidth, from + column * b.depth, b.depth, b.depth, columns);
    } else {
      pack_rows(to, kPackedWidth, from + column, b.columns, b.depth, columns);
    }
  });
}

// to (+)= a b. a: [rows, depth], to: [rows, columns], each with a pitch between rows; rows is at
// most kPackedRows.
inline void multiply_packed(float* to, ptrdiff_t to_pitch, const float* a, ptrdiff_t a_pitch,
                            int rows, const PackedMatrix& b, bool add) {
  const float* row_pointers[kMostTileRows];
  float* out[kMostTileRows];
  for (int i = 0; i < kPackedRows; ++i) {
    const int at = std::min(i, rows - 1);  // extra rows of the tile repeat the last one
    row_pointers[i] = a + at * a_pitch;
    out[i] = to + at * to_pitch;
  }
  TileJob job{};
  job.a = row_pointers;
  job.a_step = 1;
  job.b_pitch = kPackedWidth;
  job.segments = 1;
  job.depth = b.depth;
  job.out = out;
  job.rows = rows;
  job.end.add_previous = add;
  const TileFunction tile = tile_function(rows, kPackedVectors);
  for (int column = 0; column < b.columns; column += kPackedWidth) {
    job.b = b.panels + column * b.depth;
    job.columns = std::min(kPackedWidth, b.columns - column);
    tile(job);
    for (int i = 0; i < kPackedRows; ++i) out[i] += kPackedWidth;
  }
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
