// Products of small matrices on one thread, with operands anywhere in memory, as attention and
// recurrent layers need them. Included once per vector target.

#if defined(THIMBLE_SIMD_BLOCK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_BLOCK_INL_H_
#undef THIMBLE_SIMD_BLOCK_INL_H_
#else
#define THIMBLE_SIMD_BLOCK_INL_H_
#endif

#include <algorithm>

#include "simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

// to[i * to_pitch + j] (+)= sum_l a[i * a_row + l * a_column] b[l * b_pitch + j]. Reads whole
// vectors of b: up to column round_up(columns, lanes()).
struct BlockProduct {
  float* to;
  ptrdiff_t to_pitch;
  const float* a;
  ptrdiff_t a_row, a_column;
  const float* b;
  ptrdiff_t b_pitch;
  int rows, columns;
  int64_t depth;
  bool add;  // whether to add to the contents of `to`
};

inline void multiply_block(const BlockProduct& p) {
  const Panels panels = split_columns(p.columns);
  const float* row_pointers[kMostTileRows];
  float* out[kMostTileRows];
  TileJob job{};
  job.a = row_pointers;
  job.a_step = p.a_column;
  job.b_pitch = p.b_pitch;
  job.segments = 1;
  job.depth = p.depth;
  job.out = out;
  job.end.add_previous = p.add;
  for (int column = 0; column < p.columns; column += panels.width) {
    job.b = p.b + column;
    job.columns = std::min(panels.width, p.columns - column);
    const int vectors = (job.columns + lanes() - 1) / lanes();
    const int most = tile_rows(vectors);
    for (int row = 0; row < p.rows; row += most) {
      job.rows = std::min(most, p.rows - row);
      for (int i = 0; i < most; ++i) {
        const ptrdiff_t at =
            row + std::min(i, job.rows - 1);  // extra rows of the tile repeat the last one
        row_pointers[i] = p.a + at * p.a_row;
        out[i] = p.to + at * p.to_pitch + column;
      }
      tile_function(job.rows, vectors)(job);
    }
  }
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
