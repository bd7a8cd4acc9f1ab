#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "ops/activation_bits/dims.h"
#include "ops/families/kernel/elements-inl.h"
#include "parallel/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::activation_bits_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// Elements per iteration: whole bytes of bits and whole vectors.
inline constexpr int kGroup = lanes() < 8 ? 8 : lanes();
inline constexpr int kGroupBytes = kGroup / 8;
static_assert(kTileElements % kGroup == 0, "tiles must not share bytes");

// Highway reads and writes up to 8 bytes even if it needs fewer.
struct BitBuffer {
  uint8_t bytes[kGroupBytes < 8 ? 8 : kGroupBytes] = {};
};

// test(vector) returns a mask. io: accesses the `count` elements of a group, see elements-inl.h.
template <class Test>
HWY_INLINE BitBuffer bits_of_group(const float* x, int count, const Test& test) {
  const F32 f;
  BitBuffer bits;
  for (int at = 0; at < count; at += lanes()) {
    const int here = std::min(lanes(), count - at);
    BitBuffer part;
    if (here == lanes()) {
      hn::StoreMaskBits(f, test(hn::LoadU(f, x + at)), part.bytes);
    } else {
      const auto present = hn::FirstN(f, static_cast<size_t>(here));
      const auto set = test(simd::HWY_NAMESPACE::load_first(x + at, here));
      hn::StoreMaskBits(f, hn::And(set, present), part.bytes);
    }
    if constexpr (lanes() < 8) {
      bits.bytes[0] = static_cast<uint8_t>(bits.bytes[0] | part.bytes[0] << at);
    } else {
      bits = part;
    }
  }
  return bits;
}

template <class Test>
HWY_INLINE void make_bits(uint8_t* bits, const float* x, int64_t n, parallel::ThreadPool& pool,
                          const Test test) {
  pool.run((n + kTileElements - 1) / kTileElements, [&](int64_t tile) HWY_ATTR {
    const int64_t begin = tile * kTileElements;
    const int64_t end = std::min(n, begin + kTileElements);
    int64_t i = begin;
    if constexpr (lanes() >= 8) {
      // Stops while the 8 bytes that Highway may write still belong to this tile.
      for (; i + 64 <= end; i += lanes()) {
        hn::StoreMaskBits(F32(), test(hn::LoadU(F32(), x + i)), bits + i / 8);
      }
    }
    for (; i + kGroup <= end; i += kGroup) {
      const BitBuffer made = bits_of_group(x + i, kGroup, test);
      std::memcpy(bits + i / 8, made.bytes, kGroupBytes);
    }
    if (i == end) return;
    const BitBuffer made = bits_of_group(x + i, static_cast<int>(end - i), test);
    std::memcpy(bits + i / 8, made.bytes, static_cast<size_t>((end - i + 7) / 8));
  });
}

void activation_bits_target(uint8_t* bits, const float* x, const bits_dims& d,
                            parallel::ThreadPool& pool) {
  const F32 f;
  const Vec low = hn::Set(f, d.low);
  const Vec high = hn::Set(f, d.high);
  const auto make = [&](auto test) HWY_ATTR { make_bits(bits, x, d.n, pool, test); };
  switch (d.test) {
    case 0:
      return make([=](Vec v) HWY_ATTR { return hn::Gt(v, low); });
    case 1:
      return make([=](Vec v) HWY_ATTR { return hn::Not(hn::Le(v, low)); });
    case 2:
      return make([=](Vec v) HWY_ATTR { return hn::Not(hn::Or(hn::Le(v, low), hn::Ge(v, high))); });
    case 3:
      return make([=](Vec v) HWY_ATTR { return hn::Not(hn::Or(hn::Lt(v, low), hn::Gt(v, high))); });
    default:
      return make([=](Vec v)
                      HWY_ATTR { return hn::Not(hn::And(hn::Ge(v, low), hn::Le(v, high))); });
  }
}

// The vector of elements of a group whose bits are given.
template <class Io>
HWY_INLINE void pass_gradient(const Io& io, float* dx, const float* dy, int64_t i,
                              const uint8_t* bits, Vec slope, bool sloped) {
  const auto set = hn::LoadMaskBits(F32(), bits);
  const Vec v = io.load(dy, i);
  const Vec rest = sloped ? hn::Mul(slope, v) : hn::Zero(F32());
  io.store(hn::IfThenElse(set, v, rest), dx, i);
}

void grad_by_bits_target(float* dx, const float* dy, const uint8_t* bits,
                         const grad_by_bits_dims& d, parallel::ThreadPool& pool) {
  const Vec slope = hn::Set(F32(), d.slope);
  const bool sloped = d.slope != 0.0F;
  const int64_t bytes = (int64_t{d.n} + 7) / 8;
  over_elements(d.n, pool, [=](const auto& io, int64_t i) HWY_ATTR {
    BitBuffer here;
    if constexpr (lanes() < 8) {
      here.bytes[0] = static_cast<uint8_t>(bits[i / 8] >> (i % 8));
    } else {
      const int64_t left = bytes - i / 8;
      if (left >= 8) {
        pass_gradient(io, dx, dy, i, bits + i / 8, slope, sloped);
        return;
      }
      if (left >= kGroupBytes) {
        std::memcpy(here.bytes, bits + i / 8, kGroupBytes);
      } else {
        std::memcpy(here.bytes, bits + i / 8, static_cast<size_t>(left));
      }
    }
    pass_gradient(io, dx, dy, i, here.bytes, slope, sloped);
  });
}

}  // namespace thimble::ops::activation_bits_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::activation_bits_impl {
HWY_EXPORT(activation_bits_target);
HWY_EXPORT(grad_by_bits_target);

void activation_bits_simd(uint8_t* bits, const float* x, const bits_dims* d,
                          parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(activation_bits_target)(bits, x, *d, pool);
}

void grad_by_bits_simd(float* dx, const float* dy, const uint8_t* bits, const grad_by_bits_dims* d,
                       parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(grad_by_bits_target)(dx, dy, bits, *d, pool);
}

}  // namespace thimble::ops::activation_bits_impl
#endif
