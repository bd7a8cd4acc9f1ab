// The transformed input of Winograd convolution, which a convolution and its weight gradient share;
// see winograd.h. Included once per vector target.

#if defined(THIMBLE_SIMD_WINOGRAD_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_WINOGRAD_TILES_INL_H_
#undef THIMBLE_SIMD_WINOGRAD_TILES_INL_H_
#else
#define THIMBLE_SIMD_WINOGRAD_TILES_INL_H_
#endif

#include <hwy/cache_control.h>

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

// Images [*, h, w, c]. Tile (i, j) reads the pixels from (step i + first_row, step j +
// first_column) on.
struct TiledImage {
  const float* data;
  int h, w, c;
  int first_row, first_column;
};

// Memory that is read or written later: rows of some cache lines each. It may end beyond its array,
// as it is fetched, not read.
struct Ahead {
  const float* from = nullptr;
  int64_t rows = 0;
  ptrdiff_t pitch = 0;  // floats
  int lines = 0;
};

// Fetches such memory, first `one`, then `other`, a few lines at each of about `calls` calls, while
// values are computed: a processor has few misses under way at once, and waits if there are more.
class Fetch {
 public:
  Fetch(const Ahead& one, const Ahead& other, int64_t calls)
      : now_(one),
        then_(other),
        per_call_(static_cast<int>(divide_up(one.rows * one.lines + other.rows * other.lines,
                                             std::max<int64_t>(1, calls)))) {}

  HWY_INLINE void next() {
    constexpr int kLine = 16;  // floats
    for (int i = 0; i < per_call_; ++i) {
      if (now_.rows <= 0) {
        now_ = then_;
        then_ = {};
        if (now_.rows <= 0) return;
      }
      hwy::Prefetch(now_.from + line_ * kLine);
      if (++line_ < now_.lines) continue;
      line_ = 0;
      now_.from += now_.pitch;
      --now_.rows;
    }
  }

 private:
  Ahead now_, then_;
  int per_call_;
  int line_ = 0;
};

// `channels` channels, from `channel` on, of about the pixels that `count` tiles from `first` on
// read: their share of the images.
inline Ahead ahead_of_tiles(const TiledImage& image, const TileGrid& grid, int64_t first,
                            int64_t count, int channel, int channels) {
  const int64_t tiles = static_cast<int64_t>(grid.rows) * grid.columns;
  const int64_t pixels = int64_t{image.h} * image.w;
  return {image.data + first * pixels / tiles * image.c + channel, count * pixels / tiles, image.c,
          static_cast<int>(divide_up(channels, 16))};
}

// Two rows of the transform of one vector of channels; see Winograd::input_pair. All rows at once
// would not fit registers. If kPartial, of the first `count` lanes alone.
template <WinogradKind kKind, bool kPartial, int kPair>
HWY_INLINE void transform_rows(const float* const* pixels, int channel, int count,
                               float* HWY_RESTRICT to, ptrdiff_t point_floats) {
  using Tile = Winograd<kKind>;
  constexpr int kInputs = Tile::kForm.inputs;
  constexpr int kPoints = Tile::kForm.points;
  constexpr int kRows[2] = {Tile::first_of(kPair), Tile::second_of(kPair)};
  const F32 d;
  Vec rows[2][kInputs];
  THIMBLE_UNROLL
  for (int s = 0; s < kInputs; ++s) {
    Vec column[kInputs];
    THIMBLE_UNROLL
    for (int r = 0; r < kInputs; ++r) {
      const float* const from = pixels[kInputs * r + s] + channel;
      column[r] = kPartial ? load_first(from, count) : hn::LoadU(d, from);
    }
    Tile::template input_pair<kPair>(column, rows[0][s], rows[1][s]);
  }
  THIMBLE_UNROLL
  for (int i = 0; i < (kRows[1] < 0 ? 1 : 2); ++i) {
    Vec values[kPoints];
    Tile::input(rows[i], values);
    float* const row = to + kPoints * kRows[i] * point_floats + channel;
    THIMBLE_UNROLL
    for (int s = 0; s < kPoints; ++s) hn::StoreU(values[s], d, row + s * point_floats);
  }
}

template <WinogradKind kKind, bool kPartial>
HWY_INLINE void transform_vector(const float* const* pixels, int channel, int count,
                                 float* HWY_RESTRICT to, ptrdiff_t point_floats) {
  constexpr int kPairs = Winograd<kKind>::kPairs;
  transform_rows<kKind, kPartial, 0>(pixels, channel, count, to, point_floats);
  transform_rows<kKind, kPartial, 1>(pixels, channel, count, to, point_floats);
  if constexpr (kPairs > 2) {
    transform_rows<kKind, kPartial, 2>(pixels, channel, count, to, point_floats);
  }
  if constexpr (kPairs > 3) {
    transform_rows<kKind, kPartial, 3>(pixels, channel, count, to, point_floats);
    transform_rows<kKind, kPartial, 4>(pixels, channel, count, to, point_floats);
  }
}

// The pixels of `channel` that a tile reads; `zeros` stands in for those outside the image.
template <WinogradKind kKind>
inline void tile_pixels(const TiledImage& image, const TilePlace& at, int channel,
                        const float* zeros, const float** pixels) {
  constexpr WinogradForm kForm = winograd_form(kKind);
  for (int i = 0; i < kForm.inputs; ++i) {
    const int row = kForm.step * at.row + image.first_row + i;
    const bool row_inside = row >= 0 && row < image.h;
    for (int j = 0; j < kForm.inputs; ++j) {
      const int column = kForm.step * at.column + image.first_column + j;
      const bool inside = row_inside && column >= 0 && column < image.w;
      const int64_t pixel = (at.image * image.h + row) * image.w + column;
      *pixels++ = inside ? image.data + pixel * image.c + channel : zeros;
    }
  }
}

// Calls transform(t, pixels, next) for each of `count` tiles from `first` on: get(at, pixels) gives
// the pixels of a tile; `next` are those of the tile after it, to be fetched meanwhile.
template <int kPixels, class Get, class Transform>
HWY_INLINE void for_each_tile(const TileGrid& grid, int64_t first, int count, const Get& get,
                              const Transform& transform) {
  const float* pixels[2][kPixels];
  TilePlace at = tile_place(grid, first);
  get(at, pixels[0]);
  for (int t = 0; t < count; ++t) {
    const bool more = t + 1 < count;
    if (more) {
      advance(grid, at);
      get(at, pixels[(t + 1) % 2]);
    }
    transform(t, pixels[t % 2], pixels[(more ? t + 1 : t) % 2]);
  }
}

template <int kPixels>
HWY_INLINE void prefetch_pixels(const float* const* pixels, int channel) {
  THIMBLE_UNROLL
  for (int i = 0; i < kPixels; ++i) hwy::Prefetch(pixels[i] + channel);
}

// Channels [channel, channel + channels) of tiles [first, first + count) of all images, to [point,
// tile, channel]: points at a distance of point_floats, tiles of pitch. zeros: as many as channels.
// Lanes beyond the channels are written up to a whole vector, with zeros.
template <WinogradKind kKind>
inline void transform_tiles(const TiledImage& image, const TileGrid& grid, int64_t first, int count,
                            int channel, int channels, const float* zeros, float* to, int pitch,
                            ptrdiff_t point_floats) {
  constexpr int kPixels = winograd_form(kKind).inputs * winograd_form(kKind).inputs;
  for_each_tile<kPixels>(
      grid, first, count,
      [&](const TilePlace& at, const float** pixels)
          HWY_ATTR { tile_pixels<kKind>(image, at, channel, zeros, pixels); },
      [&](int t, const float* const* pixels, const float* const* next) HWY_ATTR {
        float* const tile = to + static_cast<ptrdiff_t>(t) * pitch;
        int c = 0;
        for (; c + lanes() <= channels; c += lanes()) {
          prefetch_pixels<kPixels>(next, c);
          transform_vector<kKind, false>(pixels, c, lanes(), tile, point_floats);
        }
        if (c < channels)
          transform_vector<kKind, true>(pixels, c, channels - c, tile, point_floats);
      });
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
