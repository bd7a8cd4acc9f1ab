// Philox with one block per lane. Returns the same words as philox_at for every vector width.
// Included once per vector target.

#if defined(THIMBLE_SIMD_PHILOX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_SIMD_PHILOX_INL_H_
#undef THIMBLE_SIMD_PHILOX_INL_H_
#else
#define THIMBLE_SIMD_PHILOX_INL_H_
#endif

#include <algorithm>

#include "parallel/thread_pool.h"
#include "simd/philox.h"
#include "simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::simd::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using U32 = hn::ScalableTag<uint32_t>;
using Words = hn::Vec<U32>;

// Elements drawn at a time: a whole number of blocks for every vector width.
inline constexpr int kDrawElements = 256;
// Buffer size for that many elements if whole vectors are read from any element of the first block
// on.
inline constexpr int kDrawRoom = kDrawElements + 4;

#if HWY_TARGET == HWY_SCALAR

// words: those from block `index` on, in the order of elements; their number is a multiple of 64.
HWY_INLINE void draw_words(uint32_t* HWY_RESTRICT words, const uint32_t* rng, uint32_t stream,
                           uint32_t index, int elements = kDrawElements) {
  for (int i = 0; i < elements; i += 4) {
    const philox_block block = philox_at(rng, stream, index++);
    std::copy(block.v, block.v + 4, words + i);
  }
}

#else

// The high and low 32 bits of the 64-bit products of all lanes.
HWY_INLINE void multiply_wide(Words a, Words b, Words& high, Words& low) {
  const U32 d;
  const hn::RepartitionToWide<U32> wide;
  const auto even = hn::MulEven(a, b);
  const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, a))), b);
  high = hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
  low = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
}

// words: those from block `index` on, in the order of elements; their number is a multiple of 64.
HWY_INLINE void draw_words(uint32_t* HWY_RESTRICT words, const uint32_t* rng, uint32_t stream,
                           uint32_t index, int elements = kDrawElements) {
  const U32 d;
  const int lanes = static_cast<int>(HWY_LANES(uint32_t));
  const Words m0 = hn::Set(d, 0xD2511F53U);
  const Words m1 = hn::Set(d, 0xCD9E8D57U);
  for (int block = 0; block < elements / 4; block += lanes) {
    Words c0 = hn::Iota(d, index + static_cast<uint32_t>(block));
    Words c1 = hn::Set(d, stream);
    Words c2 = hn::Set(d, rng[2]);
    Words c3 = hn::Set(d, rng[3]);
    uint32_t k0 = rng[0];
    uint32_t k1 = rng[1];
    for (int round = 0; round < 10; ++round) {
      Words high0;
      Words low0;
      Words high1;
      Words low1;
      multiply_wide(c0, m0, high0, low0);
      multiply_wide(c2, m1, high1, low1);
      c0 = hn::Xor(hn::Xor(high1, c1), hn::Set(d, k0));
      c2 = hn::Xor(hn::Xor(high0, c3), hn::Set(d, k1));
      c1 = low1;
      c3 = low0;
      k0 += 0x9E3779B9U;
      k1 += 0xBB67AE85U;
    }
    hn::StoreInterleaved4(c0, c1, c2, c3, d, words + 4 * block);
  }
}

#endif  // HWY_SCALAR

// Converts words to numbers in [0, 1) with 24 bits, as philox_unit does.
HWY_INLINE hn::Vec<hn::ScalableTag<float>> units(Words words) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<U32> integers;
  return hn::Mul(hn::ConvertTo(d, hn::BitCast(integers, hn::ShiftRight<8>(words))),
                 hn::Set(d, 0x1p-24F));
}

// Calls use(words, at, begin, count) for pieces of at most kDrawElements elements that together
// cover [0, n), in tiles that do not depend on the number of threads. All kDrawElements words are
// drawn, from the start of a block; the words of elements from `begin` on start at words + at.
template <class Use>
HWY_INLINE void over_words(int64_t n, const uint32_t* rng, uint32_t stream,
                           parallel::ThreadPool& pool, const Use& use) {
  constexpr int64_t kTile = 32 * kDrawElements;
  const uint64_t first = philox_first(rng, static_cast<int>(n));
  const auto before =
      static_cast<int64_t>(first % 4);  // words of the first block that belong to other elements
  const int64_t all = before + n;
  pool.run((all + kTile - 1) / kTile, [&](int64_t tile) HWY_ATTR {
    HWY_ALIGN uint32_t words[kDrawRoom];
    const int64_t end = std::min<int64_t>(all, (tile + 1) * kTile);
    for (int64_t piece = tile * kTile; piece < end; piece += kDrawElements) {
      draw_words(words, rng, stream,
                 static_cast<uint32_t>((first + static_cast<uint64_t>(piece)) / 4));
      const int64_t begin = std::max(piece, before);
      const int64_t stop = std::min<int64_t>(end, piece + kDrawElements);
      use(words, static_cast<int>(begin - piece), begin - before, static_cast<int>(stop - begin));
    }
  });
}

}  // namespace thimble::simd::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
