// Copies that bring operands into the order the register tiles read. Included once per target.

#if defined(THIMBLE_SIMD_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_PACK_INL_H_
#undef THIMBLE_SIMD_PACK_INL_H_
#else
#define THIMBLE_SIMD_PACK_INL_H_
#endif

#include <cstring>

#include "simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

// to[c * to_pitch + r] = from[r * from_pitch + c] for a 4 x 4 block.
HWY_INLINE void transpose_4x4(float* to, ptrdiff_t to_pitch, const float* from,
                              ptrdiff_t from_pitch) {
#if HWY_TARGET == HWY_SCALAR
  for (int r = 0; r < 4; ++r) {
    for (int c = 0; c < 4; ++c) to[c * to_pitch + r] = from[r * from_pitch + c];
  }
#else
  const hn::FixedTag<float, 4> d;
  const auto r0 = hn::LoadU(d, from);
  const auto r1 = hn::LoadU(d, from + from_pitch);
  const auto r2 = hn::LoadU(d, from + 2 * from_pitch);
  const auto r3 = hn::LoadU(d, from + 3 * from_pitch);
  const auto even_low = hn::InterleaveLower(d, r0, r2);
  const auto odd_low = hn::InterleaveLower(d, r1, r3);
  const auto even_high = hn::InterleaveUpper(d, r0, r2);
  const auto odd_high = hn::InterleaveUpper(d, r1, r3);
  hn::StoreU(hn::InterleaveLower(d, even_low, odd_low), d, to);
  hn::StoreU(hn::InterleaveUpper(d, even_low, odd_low), d, to + to_pitch);
  hn::StoreU(hn::InterleaveLower(d, even_high, odd_high), d, to + 2 * to_pitch);
  hn::StoreU(hn::InterleaveUpper(d, even_high, odd_high), d, to + 3 * to_pitch);
#endif
}

// to[c * to_pitch + r] = from[r * from_pitch + c], rows x columns; to and from do not overlap.
inline void transpose_copy(float* HWY_RESTRICT to, ptrdiff_t to_pitch,
                           const float* HWY_RESTRICT from, ptrdiff_t from_pitch, int64_t rows,
                           int64_t columns) {
  int64_t r = 0;
  for (; r + 4 <= rows; r += 4) {
    int64_t c = 0;
    for (; c + 4 <= columns; c += 4) {
      transpose_4x4(to + c * to_pitch + r, to_pitch, from + r * from_pitch + c, from_pitch);
    }
    for (; c < columns; ++c) {
      for (int64_t i = r; i < r + 4; ++i) to[c * to_pitch + i] = from[i * from_pitch + c];
    }
  }
  for (; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) to[c * to_pitch + r] = from[r * from_pitch + c];
  }
}

// panel[l * width + j] = from[l * pitch + j]; columns beyond `columns` become zero.
inline void pack_rows(float* HWY_RESTRICT panel, int width, const float* HWY_RESTRICT from,
                      ptrdiff_t pitch, int64_t depth, int columns) {
  const F32 d;
  for (int64_t l = 0; l < depth; ++l, panel += width, from += pitch) {
    int j = 0;
    for (; j + lanes() <= columns; j += lanes()) hn::StoreU(hn::LoadU(d, from + j), d, panel + j);
    for (; j < columns; ++j) panel[j] = from[j];
    for (; j < width; ++j) panel[j] = 0.0f;
  }
}

// panel[l * width + j] = from[j * pitch + l]; columns beyond `columns` become zero.
inline void pack_transposed(float* HWY_RESTRICT panel, int width, const float* HWY_RESTRICT from,
                            ptrdiff_t pitch, int64_t depth, int columns) {
  transpose_copy(panel, width, from, pitch, columns, depth);
  if (columns == width) return;
  for (int64_t l = 0; l < depth; ++l) {
    std::memset(panel + l * width + columns, 0,
                static_cast<size_t>(width - columns) * sizeof(float));
  }
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
