// In forward, channels are in the vector lanes and a task computes rows of the result; in backward
// a task computes an image.

#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "ir/op_def.h"
#include "ops/families/conv/row_tasks.h"
#include "ops/families/kernel/lanes-inl.h"
#include "ops/families/pool/pool_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::max_pool2d_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

using I32 = hn::RebindToSigned<F32>;
using Places = hn::Vec<I32>;

// Positions of maxima are stored as bytes, or as int32 for large windows.
template <class T>
HWY_INLINE void store_places(Places places, T* to, int count, const T* end) {
  const hn::Rebind<T, I32> d;
  const auto values = [&] {
    if constexpr (sizeof(T) == 1) {
      return hn::DemoteTo(d, places);
    } else {
      return places;
    }
  }();
  if (end - to >= lanes()) {
    hn::StoreU(values, d, to);
  } else {
    alignas(64) T all[HWY_LANES(float)];
    hn::Store(values, d, all);
    std::copy(all, all + count, to);
  }
}

// The tensor that a row reads, and its end.
struct Source {
  const float* data;
  const float* end;
};

// One vector of channels of one window. image: [h, w, c], moved on to those channels.
HWY_INLINE Vec window_max(Source image, pool_range rows, pool_range columns, int first_place,
                          const pool_dims& d, int count, Places& places) {
  const I32 di;
  const ptrdiff_t pitch = static_cast<ptrdiff_t>(d.w) * d.c;
  const float* first = image.data + static_cast<ptrdiff_t>(columns.begin) * d.c;
  Vec best = load_within(first + rows.begin * pitch, count, image.end);
  places = hn::Set(di, first_place);
  const ptrdiff_t step = static_cast<ptrdiff_t>(d.dilation_w) * d.c;
  int row_place = first_place;
  for (int row = rows.begin; row < rows.end; row += d.dilation_h, row_place += d.s) {
    int place = row_place;
    const float* cell = first + row * pitch;
    for (int column = columns.begin; column < columns.end;
         column += d.dilation_w, ++place, cell += step) {
      const Vec value = load_within(cell, count, image.end);
      const auto larger = hn::Or(hn::Gt(value, best), hn::IsNaN(value));
      best = hn::IfThenElse(larger, value, best);
      places = hn::IfThenElse(hn::RebindMask(di, larger), hn::Set(di, place), places);
    }
  }
  return best;
}

// y, index: the whole results, no index if null; row: n * p_size + p.
template <class T>
void pool_row(float* y, T* index, Source x, int64_t row, const pool_dims& d) {
  const int p = static_cast<int>(row % d.p);
  x.data += static_cast<ptrdiff_t>(row / d.p) * d.h * d.w * d.c;
  const pool_range rows = pool_cells(p, d.stride_h, d.pad_top, d.dilation_h, d.r, d.h);
  const ptrdiff_t row_size = static_cast<ptrdiff_t>(d.q) * d.c;
  ptrdiff_t out = row * row_size;
  const ptrdiff_t end = out + row_size;
  for (int q = 0; q < d.q; ++q) {
    const pool_range columns = pool_cells(q, d.stride_w, d.pad_left, d.dilation_w, d.s, d.w);
    const int first_place = (rows.begin - p * d.stride_h + d.pad_top) / d.dilation_h * d.s +
                            (columns.begin - q * d.stride_w + d.pad_left) / d.dilation_w;
    for (int c = 0; c < d.c; c += lanes()) {
      const int count = std::min(lanes(), d.c - c);
      Places places;
      const Vec best =
          window_max({x.data + c, x.end}, rows, columns, first_place, d, count, places);
      store_within(best, y + out, count, y + end);
      if (index) store_places(places, index + out, count, index + end);
      out += count;
    }
  }
}

void max_pool2d_target(float* y, uint8_t* index, const float* x, const pool_dims& d,
                       parallel::ThreadPool& pool) {
  const Source source = {x, x + static_cast<ptrdiff_t>(d.n) * d.h * d.w * d.c};
  for_each_row(pool, int64_t{d.n} * d.p, int64_t{d.r} * d.w * d.c, [&](int64_t row) {
    if (d.wide_index) {
      pool_row(y, static_cast<int32_t*>(static_cast<void*>(index)), source, row, d);
    } else {
      pool_row(y, index, source, row, d);
    }
  });
}

// The gradient of one image with places of a byte. Each cell of a window gets dy where the cell was
// the largest, else 0. kTiles: every cell of the image lies in exactly one window.
template <bool kTiles>
void add_windows(float* dx, const float* dy, const uint8_t* index, const pool_dims& d) {
  const F32 df;
  const I32 di;
  const hn::Rebind<uint8_t, I32> bytes;
  const ptrdiff_t pitch = static_cast<ptrdiff_t>(d.w) * d.c;
  const ptrdiff_t row_step = d.dilation_h * pitch;
  const ptrdiff_t step = static_cast<ptrdiff_t>(d.dilation_w) * d.c;
  const int whole = d.c / lanes() * lanes();
  int cleared = 0;  // rows, each just before the first window that adds to it
  for (int window = 0; window < d.p * d.q; ++window, dy += d.c, index += d.c) {
    const int p = window / d.q;
    const int q = window % d.q;
    const pool_range rows = pool_cells(p, d.stride_h, d.pad_top, d.dilation_h, d.r, d.h);
    const pool_range columns = pool_cells(q, d.stride_w, d.pad_left, d.dilation_w, d.s, d.w);
    if (!kTiles && rows.end > cleared) {
      std::fill(dx + cleared * pitch, dx + rows.end * pitch, 0.0F);
      cleared = rows.end;
    }
    const int first_place = (rows.begin - p * d.stride_h + d.pad_top) / d.dilation_h * d.s +
                            (columns.begin - q * d.stride_w + d.pad_left) / d.dilation_w;
    float* const first = dx + (static_cast<ptrdiff_t>(rows.begin) * d.w + columns.begin) * d.c;
    for (int c = 0; c < whole; c += lanes()) {
      const Places places = hn::PromoteTo(di, hn::LoadU(bytes, index + c));
      const Vec gradient = hn::LoadU(df, dy + c);
      float* line = first + c;
      int row_place = first_place;
      for (int row = rows.begin; row < rows.end; row += d.dilation_h) {
        float* to = line;
        int place = row_place;
        for (int column = columns.begin; column < columns.end; column += d.dilation_w) {
          const auto chosen = hn::RebindMask(df, hn::Eq(places, hn::Set(di, place)));
          // Adding to 0 gives what the reference kernel gives for -0.
          const Vec before = kTiles ? hn::Zero(df) : hn::LoadU(df, to);
          hn::StoreU(hn::Add(before, hn::IfThenElseZero(chosen, gradient)), df, to);
          to += step;
          ++place;
        }
        line += row_step;
        row_place += d.s;
      }
    }
    if (whole == d.c) continue;
    float* line = first;
    int row_place = first_place;
    for (int row = rows.begin; row < rows.end; row += d.dilation_h) {
      float* to = line;
      int place = row_place;
      for (int column = columns.begin; column < columns.end; column += d.dilation_w) {
        for (int c = whole; c < d.c; ++c) {
          to[c] = (kTiles ? 0.0F : to[c]) + (index[c] == place ? dy[c] : 0.0F);
        }
        to += step;
        ++place;
      }
      line += row_step;
      row_place += d.s;
    }
  }
  if (!kTiles) std::fill(dx + cleared * pitch, dx + d.h * pitch, 0.0F);
}

// Computes the gradient of one image and returns true, unless it is less work to look up the
// largest cell of each window: for windows of many cells, or images of few channels.
bool add_windows_target(float* dx, const float* dy, const uint8_t* index, const pool_dims& d) {
  if (d.c < lanes() || d.r * d.s > lanes()) return false;
  const bool tiles = d.stride_h == d.r && d.stride_w == d.s && d.dilation_h == 1 &&
                     d.dilation_w == 1 && d.p * d.r == d.h && d.q * d.s == d.w && d.pad_top == 0 &&
                     d.pad_left == 0;
  if (tiles) {
    add_windows<true>(dx, dy, index, d);
  } else {
    add_windows<false>(dx, dy, index, d);
  }
  return true;
}

}  // namespace thimble::ops::max_pool2d_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::max_pool2d_impl {
HWY_EXPORT(max_pool2d_target);
HWY_EXPORT(add_windows_target);

namespace {

constexpr ptrdiff_t kNowhere = std::numeric_limits<ptrdiff_t>::min() / 2;

// Adds the gradient of one image to the largest cell of each window. offset(place): the offset of a
// pixel of the window, in values. kChecked: a place outside the image, which no pooling gives, gets
// nothing; else there is none.
template <bool kChecked = true, class T, class Offset>
void scatter_image(float* dx, const float* dy, const T* index, const pool_dims& d,
                   const Offset& offset) {
  const size_t size =
      static_cast<size_t>(d.h) * static_cast<size_t>(d.w) * static_cast<size_t>(d.c);
  std::fill(dx, dx + size, 0.0F);
  for (int p = 0; p < d.p; ++p) {
    for (int q = 0; q < d.q; ++q, dy += d.c, index += d.c) {
      // The window may begin outside the image; its maximum is always inside.
      const ptrdiff_t row = static_cast<ptrdiff_t>(p) * d.stride_h - d.pad_top;
      const ptrdiff_t begin = (row * d.w + q * d.stride_w - d.pad_left) * d.c;
      for (int c = 0; c < d.c; ++c) {
        const auto at = static_cast<size_t>(begin + offset(index[c]) + c);
        if (!kChecked || at < size) dx[at] += dy[c];
      }
    }
  }
}

// Offset of a pixel of a window from its first pixel, in values; outside of any image for a place
// that the window does not have.
ptrdiff_t cell_offset(const pool_dims& d, int place) {
  if (place < 0 || place >= d.r * d.s) return kNowhere;
  const ptrdiff_t row = static_cast<ptrdiff_t>(place / d.s) * d.dilation_h;
  return (row * d.w + place % d.s * d.dilation_w) * d.c;
}

// Whether all windows lie inside the image, and all places inside their window.
bool all_inside(const uint8_t* index, const pool_dims& d) {
  if (d.pad_top > 0 || d.pad_left > 0) return false;
  if ((d.p - 1) * d.stride_h + (d.r - 1) * d.dilation_h >= d.h) return false;
  if ((d.q - 1) * d.stride_w + (d.s - 1) * d.dilation_w >= d.w) return false;
  uint8_t largest = 0;
  const ptrdiff_t count = static_cast<ptrdiff_t>(d.p) * d.q * d.c;
  for (ptrdiff_t i = 0; i < count; ++i) largest = std::max(largest, index[i]);
  return largest < d.r * d.s;
}

// The gradient of one image with places of a byte. offsets: of each place, as cell_offset.
template <size_t kPlaces>
void byte_grad(float* dx, const float* dy, const uint8_t* index, const pool_dims& d,
               const std::array<ptrdiff_t, kPlaces>& offsets) {
  if (HWY_DYNAMIC_DISPATCH(add_windows_target)(dx, dy, index, d)) return;
  const auto offset = [&offsets](uint8_t place) { return offsets[place]; };
  if (all_inside(index, d)) {
    scatter_image<false>(dx, dy, index, d, offset);
  } else {
    scatter_image(dx, dy, index, d, offset);
  }
}

// Packs eight positions of a byte each into positions of kWidth bits, and back.
template <int kWidth>
uint64_t packed(uint64_t places) {
  if constexpr (kWidth == 1) places |= places >> 7;
  if constexpr (kWidth == 2) places |= places >> 6;
  if constexpr (kWidth == 4) places |= places >> 4;
  if constexpr (kWidth == 4) {
    places &= 0x00ff00ff00ff00ff;
    places |= places >> 8;
  } else {
    places &= kWidth == 1 ? 0x0003000300030003 : 0x000f000f000f000f;
    places |= places >> (16 - 2 * kWidth);
  }
  places &= kWidth == 1   ? 0x0000000f0000000f
            : kWidth == 2 ? 0x000000ff000000ff
                          : 0x0000ffff0000ffff;
  places |= places >> (32 - 4 * kWidth);
  return places & ((uint64_t{1} << (8 * kWidth)) - 1);
}

template <int kWidth>
uint64_t unpacked(uint64_t bits) {
  constexpr uint64_t kEach = (1 << kWidth) - 1;
  bits = (bits | bits << (32 - 4 * kWidth)) & (kWidth == 1   ? 0x0000000f0000000f
                                               : kWidth == 2 ? 0x000000ff000000ff
                                                             : 0x0000ffff0000ffff);
  bits = (bits | bits << (16 - 2 * kWidth)) & (kWidth == 1   ? 0x0003000300030003
                                               : kWidth == 2 ? 0x000f000f000f000f
                                                             : 0x00ff00ff00ff00ff);
  return (bits | bits << (8 - kWidth)) & (0x0101010101010101 * kEach);
}

// Loads a number from its bytes, lowest first on every machine.
uint64_t load_bytes(const uint8_t* from, int count) {
  uint64_t value = 0;
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(&value, from, static_cast<size_t>(count));
  } else {
    for (int i = 0; i < count; ++i) value |= uint64_t{from[i]} << 8 * i;
  }
  return value;
}

void store_bytes(uint64_t value, uint8_t* to, int count) {
  if constexpr (std::endian::native == std::endian::little) {
    std::memcpy(to, &value, static_cast<size_t>(count));
  } else {
    for (int i = 0; i < count; ++i) to[i] = static_cast<uint8_t>(value >> 8 * i);
  }
}

// Packs positions of a width that is known at compile time.
template <int kWidth>
void pack_places(uint8_t* bits, const uint8_t* index, int64_t n, parallel::ThreadPool& pool) {
  constexpr int kPerByte = 8 / kWidth;
  constexpr int64_t kTileBytes = 4096;
  pool.run((n + kTileBytes * kPerByte - 1) / (kTileBytes * kPerByte), [=](int64_t tile) {
    const int64_t end = std::min(n, (tile + 1) * kTileBytes * kPerByte);
    int64_t i = tile * kTileBytes * kPerByte;
    for (; i + 8 <= end; i += 8) {
      store_bytes(packed<kWidth>(load_bytes(index + i, 8)), bits + i / kPerByte, kWidth);
    }
    for (; i < end; i += kPerByte) {
      unsigned byte = 0;
      const int count = static_cast<int>(std::min<int64_t>(kPerByte, end - i));
      for (int j = 0; j < count; ++j) byte |= static_cast<unsigned>(index[i + j]) << j * kWidth;
      bits[i / kPerByte] = static_cast<uint8_t>(byte);
    }
  });
}

// Unpacks positions first to first + count to a byte each; returns where the first of them lies in
// `places`.
template <int kWidth>
const uint8_t* unpack_places(uint8_t* places, const uint8_t* bits, int64_t first, int64_t count) {
  constexpr int kPerByte = 8 / kWidth;
  const int64_t begin = first / kPerByte;
  const int64_t bytes = (first + count + kPerByte - 1) / kPerByte - begin;
  int64_t i = 0;
  for (; i + kWidth <= bytes; i += kWidth) {
    store_bytes(unpacked<kWidth>(load_bytes(bits + begin + i, kWidth)), places + i * kPerByte, 8);
  }
  if (i < bytes) {
    const uint64_t last = load_bytes(bits + begin + i, static_cast<int>(bytes - i));
    store_bytes(unpacked<kWidth>(last), places + i * kPerByte, 8);
  }
  return places + first % kPerByte;
}

// Bytes of one image's unpacked positions. Neighbouring images may share its first and last packed
// byte.
int64_t unpacked_bytes(const pool_dims& d) { return int64_t{d.p} * d.q * d.c + 64; }

template <int kWidth>
void packed_grad(float* dx, const float* dy, const uint8_t* bits, uint8_t* places,
                 const pool_dims& d, parallel::ThreadPool& pool) {
  std::array<ptrdiff_t, 16> offsets{};
  for (size_t place = 0; place < offsets.size(); ++place) {
    offsets[place] = cell_offset(d, static_cast<int>(place));
  }
  const ptrdiff_t inputs = static_cast<ptrdiff_t>(d.h) * d.w * d.c;
  const ptrdiff_t outputs = static_cast<ptrdiff_t>(d.p) * d.q * d.c;
  pool.run_with_worker(d.n, [&](int64_t n, int thread) {
    const uint8_t* index =
        unpack_places<kWidth>(places + thread * unpacked_bytes(d), bits, n * outputs, outputs);
    byte_grad(dx + n * inputs, dy + n * outputs, index, d, offsets);
  });
}

}  // namespace

int64_t max_pool2d_packed_grad_workspace(const ir::Params& params, int threads) {
  return threads * unpacked_bytes(params.as<pool_dims>());
}

void max_pool2d_pack_simd(uint8_t* bits, const uint8_t* index, const pool_pack_dims* d,
                          parallel::ThreadPool& pool) {
  const auto pack = d->width == 1   ? pack_places<1>
                    : d->width == 2 ? pack_places<2>
                                    : pack_places<4>;
  pack(bits, index, d->n, pool);
}

void max_pool2d_packed_grad_simd(float* dx, const float* dy, const uint8_t* bits, void* workspace,
                                 const pool_dims* d, parallel::ThreadPool& pool) {
  const auto grad = d->place_bits == 1   ? packed_grad<1>
                    : d->place_bits == 2 ? packed_grad<2>
                                         : packed_grad<4>;
  grad(dx, dy, bits, static_cast<uint8_t*>(workspace), *d, pool);
}

void max_pool2d_simd(float* y, uint8_t* index, const float* x, const pool_dims* d,
                     parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(max_pool2d_target)(y, index, x, *d, pool);
}

void max_pool2d_inference_simd(float* y, const float* x, const pool_dims* d,
                               parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(max_pool2d_target)(y, nullptr, x, *d, pool);
}

void max_pool2d_grad_simd(float* dx, const float* dy, const uint8_t* index, const pool_dims* d,
                          parallel::ThreadPool& pool) {
  const auto offset_of = [d](int place) { return cell_offset(*d, place); };
  std::array<ptrdiff_t, 256> offsets{};
  for (size_t place = 0; place < offsets.size(); ++place) {
    offsets[place] = offset_of(static_cast<int>(place));
  }
  const ptrdiff_t inputs = static_cast<ptrdiff_t>(d->h) * d->w * d->c;
  const ptrdiff_t outputs = static_cast<ptrdiff_t>(d->p) * d->q * d->c;
  pool.run(d->n, [&](int64_t n) {
    if (d->wide_index) {
      const auto* places = static_cast<const int32_t*>(static_cast<const void*>(index));
      scatter_image(dx + n * inputs, dy + n * outputs, places + n * outputs, *d, offset_of);
    } else {
      byte_grad(dx + n * inputs, dy + n * outputs, index + n * outputs, *d, offsets);
    }
  });
}

}  // namespace thimble::ops::max_pool2d_impl
#endif
