// The transformed input of Winograd convolution, which a convolution and its weight gradient share;
// see winograd.h. Included once per vector target.

#if defined(THIMBLE_SIMD_WINOGRAD_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_WINOGRAD_TILES_INL_H_
#undef THIMBLE_SIMD_WINOGRAD_TILES_INL_H_
#else
#define THIMBLE_SIMD_WINOGRAD_TILES_INL_H_
#endif

#include "simd/tile-inl.h"
#include "simd/winograd.h"
#include "simd/winograd_transforms-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

struct TilePlace {
  int64_t image;
  int row, column;
};

inline TilePlace tile_place(const TileGrid& grid, int64_t tile) {
  const int64_t per_image = static_cast<int64_t>(grid.rows) * grid.columns;
  const auto in_image = static_cast<int>(tile % per_image);
  return {tile / per_image, in_image / grid.columns, in_image % grid.columns};
}

HWY_INLINE void advance(const TileGrid& grid, TilePlace& at) {
  if (++at.column < grid.columns) return;
  at.column = 0;
  if (++at.row < grid.rows) return;
  at.row = 0;
  ++at.image;
}

// Images [*, h, w, c]. Tile (i, j) of size m reads the (m + 2) x (m + 2) pixels from (m i +
// first_row, m j + first_column) on.
struct TiledImage {
  const float* data;
  int h, w, c;
  int first_row, first_column;
};

// Two rows of the transform of one vector of channels: 2 kPair - 1 and 2 kPair, or the first and
// the last for pair 0. All rows at once would not fit registers. If kPartial, of the first `count`
// lanes alone.
template <int kSize, bool kPartial, int kPair>
HWY_INLINE void transform_rows(const float* const* pixels, int channel, int count,
                               float* HWY_RESTRICT to, ptrdiff_t point_floats) {
  constexpr int kWidth = kSize + 2;
  constexpr int kRows[2] = {kPair == 0 ? 0 : 2 * kPair - 1, kPair == 0 ? kWidth - 1 : 2 * kPair};
  const F32 d;
  Vec rows[2][kWidth];
  THIMBLE_UNROLL
  for (int s = 0; s < kWidth; ++s) {
    Vec column[kWidth];
    THIMBLE_UNROLL
    for (int r = 0; r < kWidth; ++r) {
      const float* const from = pixels[kWidth * r + s] + channel;
      column[r] = kPartial ? load_first(from, count) : hn::LoadU(d, from);
    }
    Winograd<kSize>::template input_pair<kPair>(column, rows[0][s], rows[1][s]);
  }
  THIMBLE_UNROLL
  for (int i = 0; i < 2; ++i) {
    Vec values[kWidth];
    Winograd<kSize>::input(rows[i], values);
    float* const row = to + kWidth * kRows[i] * point_floats + channel;
    THIMBLE_UNROLL
    for (int s = 0; s < kWidth; ++s) hn::StoreU(values[s], d, row + s * point_floats);
  }
}

template <int kSize, bool kPartial>
HWY_INLINE void transform_vector(const float* const* pixels, int channel, int count,
                                 float* HWY_RESTRICT to, ptrdiff_t point_floats) {
  transform_rows<kSize, kPartial, 0>(pixels, channel, count, to, point_floats);
  transform_rows<kSize, kPartial, 1>(pixels, channel, count, to, point_floats);
  if constexpr (kSize == 4) {
    transform_rows<kSize, kPartial, 2>(pixels, channel, count, to, point_floats);
  }
}

// Channels [channel, channel + channels) of tiles [first, first + count) of all images, to [point,
// tile, channel]: points at a distance of point_floats, tiles of pitch. zeros: as many as channels.
// Lanes beyond the channels are written up to a whole vector, with zeros.
template <int kSize>
inline void transform_tiles(const TiledImage& image, const TileGrid& grid, int64_t first, int count,
                            int channel, int channels, const float* zeros, float* to, int pitch,
                            ptrdiff_t point_floats) {
  constexpr int kWidth = kSize + 2;
  TilePlace at = tile_place(grid, first);
  for (int t = 0; t < count; ++t, to += pitch) {
    const float* pixels[kWidth * kWidth];
    for (int i = 0; i < kWidth; ++i) {
      const int row = kSize * at.row + image.first_row + i;
      const bool row_inside = row >= 0 && row < image.h;
      for (int j = 0; j < kWidth; ++j) {
        const int column = kSize * at.column + image.first_column + j;
        const bool inside = row_inside && column >= 0 && column < image.w;
        const int64_t pixel = (at.image * image.h + row) * image.w + column;
        pixels[kWidth * i + j] = inside ? image.data + pixel * image.c + channel : zeros;
      }
    }
    int c = 0;
    for (; c + lanes() <= channels; c += lanes()) {
      transform_vector<kSize, false>(pixels, c, lanes(), to, point_floats);
    }
    if (c < channels) transform_vector<kSize, true>(pixels, c, channels - c, to, point_floats);
    advance(grid, at);
  }
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
