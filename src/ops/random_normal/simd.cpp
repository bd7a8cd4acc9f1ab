#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "ops/families/kernel/elements-inl.h"
#include "ops/families/random/random_dims.h"
#include "parallel/thread_pool.h"
#include "simd/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::random_normal_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

using simd::HWY_NAMESPACE::kDrawElements;
using simd::HWY_NAMESPACE::kDrawRoom;
using simd::HWY_NAMESPACE::over_words;
using simd::HWY_NAMESPACE::U32;
using simd::HWY_NAMESPACE::units;
using simd::HWY_NAMESPACE::Words;

// Converts kDrawElements words to standard normal numbers.
HWY_INLINE void to_normal(float* HWY_RESTRICT out, const uint32_t* HWY_RESTRICT words) {
  const F32 f;
  for (int i = 0; i < kDrawElements; i += 2 * lanes()) {
    Words first;
    Words second;
    hn::LoadInterleaved2(U32(), words + i, first, second);
    const Vec u = hn::Sub(hn::Set(f, 1.0F), units(first));
    const Vec angle = hn::Mul(hn::Set(f, 6.283185307179586F), units(second));
    // log(1) must not be rounded above 0.
    const Vec square = hn::Max(hn::Mul(hn::Set(f, -2.0F), hn::Log(f, u)), hn::Zero(f));
    const Vec radius = hn::Sqrt(square);
    hn::StoreInterleaved2(hn::Mul(radius, hn::Cos(f, angle)), hn::Mul(radius, hn::Sin(f, angle)), f,
                          out + i);
  }
}

void random_normal_target(float* y, const uint32_t* rng, const random_dims& d,
                          parallel::ThreadPool& pool) {
  const F32 f;
  const Vec mean = hn::Set(f, static_cast<float>(d.a));
  const Vec stddev = hn::Set(f, static_cast<float>(d.b));
  over_words(d.n, rng, d.stream, pool,
             [&](const uint32_t* words, int at, int64_t begin, int count) HWY_ATTR {
               HWY_ALIGN float normal[kDrawRoom];
               to_normal(normal, words);
               over_vectors(0, count, [&](auto io, int64_t i) HWY_ATTR {
                 const Vec z = hn::Mul(stddev, hn::LoadU(f, normal + at + i));
                 io.store(hn::Add(mean, z), y + begin, i);
               });
             });
}

}  // namespace thimble::ops::random_normal_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::random_normal_impl {
HWY_EXPORT(random_normal_target);

void random_normal_simd(float* y, const uint32_t* rng, const random_dims* d,
                        parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(random_normal_target)(y, rng, *d, pool);
}

}  // namespace thimble::ops::random_normal_impl
#endif
