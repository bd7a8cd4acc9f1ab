// Copies that pack operands in the order in which the register tiles read them. Included once per
// vector target.

#if defined(THIMBLE_SIMD_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_PACK_INL_H_
#undef THIMBLE_SIMD_PACK_INL_H_
#else
#define THIMBLE_SIMD_PACK_INL_H_
#endif

#include <algorithm>
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

// to[i] = from[2 i] for i < count; reads nothing after the last of them.
inline void copy_every_second(float* HWY_RESTRICT to, const float* HWY_RESTRICT from,
                              int64_t count) {
  int64_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const F32 d;
  for (; i + lanes() < count; i += lanes()) {
    const Vec low = hn::LoadU(d, from + 2 * i);
    const Vec high = hn::LoadU(d, from + 2 * i + lanes());
    hn::StoreU(hn::ConcatEven(d, high, low), d, to + i);
  }
#if !HWY_MEM_OPS_MIGHT_FAULT
  const int rest = static_cast<int>(2 * (count - i) - 1);
  const Vec low = load_first(from + 2 * i, std::min(rest, lanes()));
  const Vec high = rest > lanes() ? load_first(from + 2 * i + lanes(), rest - lanes()) : low;
  store_first(hn::ConcatEven(d, high, low), to + i, static_cast<int>(count - i));
  return;
#endif
#endif
  for (; i < count; ++i) to[i] = from[2 * i];
}

// to[2 c] = from[c], to[2 c + 1] = from[from_pitch + c] for four c.
HWY_INLINE void join_pairs_4(float* to, const float* from, ptrdiff_t from_pitch) {
#if HWY_TARGET == HWY_SCALAR
  for (int c = 0; c < 4; ++c) to[2 * c] = from[c], to[2 * c + 1] = from[from_pitch + c];
#else
  const hn::FixedTag<float, 4> d;
  const auto even = hn::LoadU(d, from);
  const auto odd = hn::LoadU(d, from + from_pitch);
  hn::StoreU(hn::InterleaveLower(d, even, odd), d, to);
  hn::StoreU(hn::InterleaveUpper(d, even, odd), d, to + 4);
#endif
}

// Start of the block of four after the one at `at`. The last block may overlap the one before it.
// Returns `count` if there is no further block.
HWY_INLINE int64_t next_four(int64_t at, int64_t count) {
  return at + 4 >= count ? count : std::min(at + 4, count - 4);
}

// to[c * to_pitch + r] = from[r * from_pitch + c], rows x columns; to and from do not overlap.
inline void transpose_copy(float* HWY_RESTRICT to, ptrdiff_t to_pitch,
                           const float* HWY_RESTRICT from, ptrdiff_t from_pitch, int64_t rows,
                           int64_t columns) {
  if (rows >= 4 && columns >= 4) {
    for (int64_t c = 0; c < columns; c = next_four(c, columns)) {
      for (int64_t r = 0; r < rows; r = next_four(r, rows)) {  // fills whole cache lines of `to`
        transpose_4x4(to + c * to_pitch + r, to_pitch, from + r * from_pitch + c, from_pitch);
      }
    }
  } else if (columns == 1 && from_pitch == 2 && rows > 1) {
    copy_every_second(to, from, rows);
  } else if (columns == 1 && from_pitch == 1) {
    std::copy_n(from, rows, to);
  } else if (rows == 1 && to_pitch == 1) {
    std::copy_n(from, columns, to);
  } else if (rows == 2 && to_pitch == 2 && columns >= 4) {
    for (int64_t c = 0; c < columns; c = next_four(c, columns)) {
      join_pairs_4(to + 2 * c, from + c, from_pitch);
    }
  } else {
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < columns; ++c) to[c * to_pitch + r] = from[r * from_pitch + c];
    }
  }
}

// panel[l * width + j] = from[l * pitch + j]; columns from `columns` on are zero.
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

// The same of int8.
inline void pack_rows(float* HWY_RESTRICT panel, int width, const int8_t* HWY_RESTRICT from,
                      ptrdiff_t pitch, int64_t depth, int columns) {
  const F32 d;
  const hn::Rebind<int32_t, F32> d32;
  const hn::Rebind<int8_t, F32> d8;
  for (int64_t l = 0; l < depth; ++l, panel += width, from += pitch) {
    int j = 0;
    for (; j + lanes() <= columns; j += lanes()) {
      hn::StoreU(hn::ConvertTo(d, hn::PromoteTo(d32, hn::LoadU(d8, from + j))), d, panel + j);
    }
    for (; j < columns; ++j) panel[j] = static_cast<float>(from[j]);
    for (; j < width; ++j) panel[j] = 0.0f;
  }
}

// Sets the columns of a panel from `columns` on to zero.
inline void pad_columns(float* panel, int width, int64_t depth, int columns) {
  if (columns == width) return;
  for (int64_t l = 0; l < depth; ++l) {
    std::memset(panel + l * width + columns, 0,
                static_cast<size_t>(width - columns) * sizeof(float));
  }
}

// panel[l * width + j] = from[j * pitch + l]; columns from `columns` on are zero.
inline void pack_transposed(float* HWY_RESTRICT panel, int width, const float* HWY_RESTRICT from,
                            ptrdiff_t pitch, int64_t depth, int columns) {
  transpose_copy(panel, width, from, pitch, columns, depth);
  pad_columns(panel, width, depth, columns);
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
