// On the bits, so that every target rounds alike.

#include "ops/storage_16bit/simd.h"

#include <hwy/highway.h>

#include <cstring>

#include "ops/families/kernel/elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::storage_16bit_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

using I32 = hn::RebindToSigned<F32>;
using Bits = hn::Vec<I32>;
using U16 = hn::Rebind<uint16_t, F32>;
using U32 = hn::RebindToUnsigned<F32>;

HWY_INLINE Bits of_all(int32_t value) { return hn::Set(I32(), value); }

HWY_INLINE Bits bits_of(Vec v) { return hn::BitCast(I32(), v); }

HWY_INLINE Vec float_of(Bits bits) { return hn::BitCast(F32(), bits); }

HWY_INLINE Bits bf16_of(Vec v) {
  const Bits bits = bits_of(v);
  const Bits odd = hn::And(hn::ShiftRight<16>(bits), of_all(1));
  const Bits nearest = hn::ShiftRight<16>(hn::Add(hn::Add(bits, of_all(0x7fff)), odd));
  const Bits nan = hn::Or(hn::ShiftRight<16>(bits), of_all(0x40));
  return hn::And(hn::IfThenElse(hn::RebindMask(I32(), hn::IsNaN(v)), nan, nearest), of_all(0xffff));
}

HWY_INLINE Bits f16_of(Vec v) {
  const Bits bits = bits_of(v);
  const Bits sign = hn::And(hn::ShiftRight<16>(bits), of_all(0x8000));
  const Bits rest = hn::And(bits, of_all(0x7fffffff));
  const Bits odd = hn::And(hn::ShiftRight<13>(rest), of_all(1));
  const Bits normal =
      hn::ShiftRight<13>(hn::Sub(hn::Add(hn::Add(rest, of_all(0xfff)), odd), of_all(0x38000000)));
  const Bits denormal =
      hn::Sub(bits_of(hn::Add(float_of(rest), hn::Set(F32(), 0.5F))), of_all(0x3f000000));
  const Bits finite = hn::IfThenElse(hn::Lt(rest, of_all(0x38800000)), denormal, normal);
  const Bits bounded = hn::IfThenElse(hn::Gt(rest, of_all(0x477fffff)), of_all(0x7c00), finite);
  const Bits nan = of_all(0x7e00);
  return hn::Or(sign, hn::IfThenElse(hn::RebindMask(I32(), hn::IsNaN(v)), nan, bounded));
}

HWY_INLINE Vec float_of_f16(Bits half) {
  const Bits sign = hn::ShiftLeft<16>(hn::And(half, of_all(0x8000)));
  const Bits exponent = hn::And(half, of_all(0x7c00));
  const Bits rest = hn::ShiftLeft<13>(hn::And(half, of_all(0x7fff)));
  const Bits smallest = of_all(0x38800000);
  const Bits denormal = bits_of(hn::Sub(float_of(hn::Add(rest, smallest)), float_of(smallest)));
  const Bits shift =
      hn::IfThenElse(hn::Eq(exponent, of_all(0x7c00)), of_all(0x70000000), of_all(0x38000000));
  const Bits value = hn::IfThenElse(hn::Eq(exponent, of_all(0)), denormal, hn::Add(rest, shift));
  return float_of(hn::Or(sign, value));
}

template <class Convert>
HWY_INLINE void encode(uint16_t* y, const float* x, int64_t n, const Convert convert) {
  over_vectors(0, n, [=](const auto& io, int64_t i) HWY_ATTR {
    const U16 d;
    const auto halves = hn::DemoteTo(d, convert(io.load(x, i)));
    if (n - i >= lanes()) {
      hn::StoreU(halves, d, y + i);
    } else {
      alignas(64) uint16_t all[HWY_LANES(float)];
      hn::Store(halves, d, all);
      std::memcpy(y + i, all, static_cast<size_t>(n - i) * sizeof(uint16_t));
    }
  });
}

template <class Convert>
HWY_INLINE void decode(float* y, const uint16_t* x, int64_t n, const Convert convert) {
  over_vectors(0, n, [=](const auto& io, int64_t i) HWY_ATTR {
    const U16 d;
    auto halves = hn::Zero(d);
    if (n - i >= lanes()) {
      halves = hn::LoadU(d, x + i);
    } else {
      alignas(64) uint16_t all[HWY_LANES(float)] = {};
      std::memcpy(all, x + i, static_cast<size_t>(n - i) * sizeof(uint16_t));
      halves = hn::Load(d, all);
    }
    io.store(convert(hn::PromoteTo(I32(), halves)), y, i);
  });
}

void to_16bit_target(uint16_t* y, const float* x, int64_t n, bool brain_16) {
  if (brain_16) {
    encode(y, x, n, [](Vec v) HWY_ATTR { return bf16_of(v); });
  } else {
    encode(y, x, n, [](Vec v) HWY_ATTR { return f16_of(v); });
  }
}

void from_16bit_target(float* y, const uint16_t* x, int64_t n, bool brain_16) {
  if (brain_16) {
    decode(y, x, n, [](Bits b) HWY_ATTR { return float_of(hn::ShiftLeft<16>(b)); });
  } else {
    decode(y, x, n, [](Bits b) HWY_ATTR { return float_of_f16(b); });
  }
}

}  // namespace thimble::ops::storage_16bit_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::storage_16bit_impl {
HWY_EXPORT(to_16bit_target);
HWY_EXPORT(from_16bit_target);

namespace {

constexpr int64_t kTile = 16384;  // in elements

template <class Use>
void over_tiles(int64_t n, parallel::ThreadPool& pool, const Use& use) {
  pool.run((n + kTile - 1) / kTile,
           [&](int64_t tile) { use(tile * kTile, std::min<int64_t>(kTile, n - tile * kTile)); });
}

}  // namespace

void to_16bit_values(uint16_t* y, const float* x, int64_t n, bool brain_16) {
  HWY_DYNAMIC_DISPATCH(to_16bit_target)(y, x, n, brain_16);
}

void from_16bit_values(float* y, const uint16_t* x, int64_t n, bool brain_16) {
  HWY_DYNAMIC_DISPATCH(from_16bit_target)(y, x, n, brain_16);
}

void to_16bit_simd(uint16_t* y, const float* x, const bits16_dims* d, parallel::ThreadPool& pool) {
  over_tiles(d->n, pool, [=](int64_t first, int64_t count) {
    to_16bit_values(y + first, x + first, count, d->brain_16 != 0);
  });
}

void from_16bit_simd(float* y, const uint16_t* x, const bits16_dims* d,
                     parallel::ThreadPool& pool) {
  over_tiles(d->n, pool, [=](int64_t first, int64_t count) {
    from_16bit_values(y + first, x + first, count, d->brain_16 != 0);
  });
}

}  // namespace thimble::ops::storage_16bit_impl
#endif
