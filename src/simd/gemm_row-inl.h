// One row of a matrix product, from b as it lies: a panel that is read but once is not worth
// packing. Gives the bits of the register tiles. Included once per vector target, by gemm.cpp.

#if defined(THIMBLE_SIMD_GEMM_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_GEMM_ROW_INL_H_
#undef THIMBLE_SIMD_GEMM_ROW_INL_H_
#else
#define THIMBLE_SIMD_GEMM_ROW_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>

#include "simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {

// Vectors of columns that are added at once.
inline constexpr int kRowVectors = 2 * kMaxVectors;

// sums[v] += sum_{l < depth} a[l] b[l * pitch + v * lanes()], element by element in the order of l.
// load(i): the elements [i, i + lanes()) of b as f32; fetch(i): prefetches element i.
template <int kVectors, class Load, class Fetch>
HWY_INLINE void add_row_major(Vec (&sums)[kVectors], const float* a, int depth, int64_t pitch,
                              const Load& load, const Fetch& fetch) {
  constexpr int kAhead = 8;  // rows of b, which may lie in different pages
  Vec own[kVectors];         // stays in registers
  THIMBLE_UNROLL
  for (int v = 0; v < kVectors; ++v) own[v] = sums[v];
  int64_t at = 0;
  for (int l = 0; l < depth; ++l, at += pitch) {
    const Vec value = hn::Set(F32(), a[l]);
    THIMBLE_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      if (l + kAhead < depth) fetch(at + kAhead * pitch + v * lanes());
      own[v] = hn::MulAdd(value, load(at + v * lanes()), own[v]);
    }
  }
  THIMBLE_UNROLL
  for (int v = 0; v < kVectors; ++v) sums[v] = own[v];
}

#if HWY_TARGET == HWY_AVX3
// words[i]: word i of each of 16 rows of `count` words, 1 to 16.
HWY_INLINE void transpose_16(__m512i (&words)[16], const void* from, int64_t pitch_bytes,
                             int count) {
  const auto some = static_cast<__mmask16>((1U << count) - 1);
  const auto* row = static_cast<const uint8_t*>(from);
  __m512i four[16];  // [rows / 4][i]: in block b, word 4 b + i of four rows
  THIMBLE_UNROLL
  for (int r = 0; r < 16; r += 4) {
    __m512i rows[4];
    THIMBLE_UNROLL
    for (int i = 0; i < 4; ++i, row += pitch_bytes) rows[i] = _mm512_maskz_loadu_epi32(some, row);
    const __m512i low = _mm512_unpacklo_epi32(rows[0], rows[1]);
    const __m512i high = _mm512_unpackhi_epi32(rows[0], rows[1]);
    const __m512i low2 = _mm512_unpacklo_epi32(rows[2], rows[3]);
    const __m512i high2 = _mm512_unpackhi_epi32(rows[2], rows[3]);
    four[r] = _mm512_unpacklo_epi64(low, low2);
    four[r + 1] = _mm512_unpackhi_epi64(low, low2);
    four[r + 2] = _mm512_unpacklo_epi64(high, high2);
    four[r + 3] = _mm512_unpackhi_epi64(high, high2);
  }
  THIMBLE_UNROLL
  for (int i = 0; i < 4; ++i) {
    const __m512i even = _mm512_shuffle_i32x4(four[i], four[4 + i], 0x88);
    const __m512i odd = _mm512_shuffle_i32x4(four[i], four[4 + i], 0xDD);
    const __m512i even2 = _mm512_shuffle_i32x4(four[8 + i], four[12 + i], 0x88);
    const __m512i odd2 = _mm512_shuffle_i32x4(four[8 + i], four[12 + i], 0xDD);
    words[i] = _mm512_shuffle_i32x4(even, even2, 0x88);
    words[4 + i] = _mm512_shuffle_i32x4(odd, odd2, 0x88);
    words[8 + i] = _mm512_shuffle_i32x4(even, even2, 0xDD);
    words[12 + i] = _mm512_shuffle_i32x4(odd, odd2, 0xDD);
  }
}

// sum += sum_{l < depth} a[l] b[l], of 16 rows of a transposed b, `pitch` elements apart.
HWY_INLINE Vec add_transposed(Vec sum, const float* a, int depth, const float* b, int64_t pitch) {
  __m512i words[16];
  int l = 0;
  for (; l + 16 <= depth; l += 16) {
    transpose_16(words, b + l, pitch * 4, 16);
    THIMBLE_UNROLL
    for (int i = 0; i < 16; ++i) {
      sum = hn::MulAdd(hn::Set(F32(), a[l + i]), Vec{_mm512_castsi512_ps(words[i])}, sum);
    }
  }
  if (l == depth) return sum;
  transpose_16(words, b + l, pitch * 4, depth - l);
  for (int i = 0; i < depth - l; ++i) {
    sum = hn::MulAdd(hn::Set(F32(), a[l + i]), Vec{_mm512_castsi512_ps(words[i])}, sum);
  }
  return sum;
}

// The same of bf16, two of them in a word. depth: even.
HWY_INLINE Vec add_transposed(Vec sum, const float* a, int depth, const uint16_t* b,
                              int64_t pitch) {
  const auto add = [&](__m512i word, const float* two) HWY_ATTR {
    const __m512i first = _mm512_slli_epi32(word, 16);
    const __m512i second = _mm512_and_si512(word, _mm512_set1_epi32(-0x10000));
    sum = hn::MulAdd(hn::Set(F32(), two[0]), Vec{_mm512_castsi512_ps(first)}, sum);
    sum = hn::MulAdd(hn::Set(F32(), two[1]), Vec{_mm512_castsi512_ps(second)}, sum);
  };
  __m512i words[16];
  int l = 0;
  for (; l + 32 <= depth; l += 32) {
    transpose_16(words, b + l, pitch * 2, 16);
    THIMBLE_UNROLL
    for (int i = 0; i < 16; ++i) add(words[i], a + l + 2 * i);
  }
  if (l == depth) return sum;
  const int rest = (depth - l) / 2;
  transpose_16(words, b + l, pitch * 2, rest);
  for (int i = 0; i < rest; ++i) add(words[i], a + l + 2 * i);
  return sum;
}
#endif

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
