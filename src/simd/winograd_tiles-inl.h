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

// Images [*, h, w, c]. Tile (i, j) reads the 4 x 4 pixels from (2 i + first_row, 2 j +
// first_column) on.
struct TiledImage {
  const float* data;
  int h, w, c;
  int first_row, first_column;
};

// B^T applied to four vectors: a - c, b + c, c - b, b - d.
HWY_INLINE void transform_input(Vec& a, Vec& b, Vec& c, Vec& d) {
  const Vec second = hn::Add(b, c);
  const Vec third = hn::Sub(c, b);
  a = hn::Sub(a, c);
  d = hn::Sub(b, d);
  b = second;
  c = third;
}

// The transform of one vector of channels; if kPartial, of the first `count` lanes alone.
template <bool kPartial>
HWY_INLINE void transform_vector(const float* const* pixels, int channel, int count,
                                 float* HWY_RESTRICT to, ptrdiff_t point_floats) {
  const F32 d;
  Vec v[4][4];
  THIMBLE_UNROLL
  for (int i = 0; i < 4; ++i) {
    THIMBLE_UNROLL
    for (int j = 0; j < 4; ++j) {
      const float* const from = pixels[4 * i + j] + channel;
      v[i][j] = kPartial ? load_first(from, count) : hn::LoadU(d, from);
    }
  }
  THIMBLE_UNROLL
  for (int j = 0; j < 4; ++j) transform_input(v[0][j], v[1][j], v[2][j], v[3][j]);
  THIMBLE_UNROLL
  for (int i = 0; i < 4; ++i) {
    transform_input(v[i][0], v[i][1], v[i][2], v[i][3]);
    THIMBLE_UNROLL
    for (int j = 0; j < 4; ++j) {
      hn::StoreU(v[i][j], d, to + (4 * i + j) * point_floats + channel);
    }
  }
}

// Channels [channel, channel + channels) of tiles [first, first + count) of all images, to [point,
// tile, channel]: points at a distance of point_floats, tiles of pitch. zeros: as many as channels.
// Lanes beyond the channels are written up to a whole vector, with zeros.
inline void transform_tiles(const TiledImage& image, const TileGrid& grid, int64_t first, int count,
                            int channel, int channels, const float* zeros, float* to, int pitch,
                            ptrdiff_t point_floats) {
  TilePlace at = tile_place(grid, first);
  for (int t = 0; t < count; ++t, to += pitch) {
    const float* pixels[16];
    for (int i = 0; i < 4; ++i) {
      const int row = 2 * at.row + image.first_row + i;
      const bool row_inside = row >= 0 && row < image.h;
      for (int j = 0; j < 4; ++j) {
        const int column = 2 * at.column + image.first_column + j;
        const bool inside = row_inside && column >= 0 && column < image.w;
        const int64_t pixel = (at.image * image.h + row) * image.w + column;
        pixels[4 * i + j] = inside ? image.data + pixel * image.c + channel : zeros;
      }
    }
    int c = 0;
    for (; c + lanes() <= channels; c += lanes()) {
      transform_vector<false>(pixels, c, lanes(), to, point_floats);
    }
    if (c < channels) transform_vector<true>(pixels, c, channels - c, to, point_floats);
    advance(grid, at);
  }
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
