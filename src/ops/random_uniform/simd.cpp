#include <hwy/highway.h>

#include "ops/families/kernel/elements-inl.h"
#include "ops/families/random/random_dims.h"
#include "parallel/thread_pool.h"
#include "simd/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::random_uniform_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

using simd::HWY_NAMESPACE::over_words;
using simd::HWY_NAMESPACE::U32;
using simd::HWY_NAMESPACE::units;

void random_uniform_target(float* y, const uint32_t* rng, const random_dims& d,
                           parallel::ThreadPool& pool) {
  const F32 f;
  const Vec low = hn::Set(f, static_cast<float>(d.a));
  const Vec width = hn::Set(f, static_cast<float>(d.b));
  const Vec limit = hn::Set(f, static_cast<float>(d.limit));
  over_words(d.n, rng, d.stream, pool,
             [&](const uint32_t* words, int at, int64_t begin, int count) HWY_ATTR {
               over_vectors(0, count, [&](auto io, int64_t i) HWY_ATTR {
                 // No fused multiply-add, because the reference rounds twice.
                 const Vec unit = units(hn::LoadU(U32(), words + at + i));
                 io.store(hn::Min(hn::Add(low, hn::Mul(width, unit)), limit), y + begin, i);
               });
             });
}

}  // namespace thimble::ops::random_uniform_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::random_uniform_impl {
HWY_EXPORT(random_uniform_target);

void random_uniform_simd(float* y, const uint32_t* rng, const random_dims* d,
                         parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(random_uniform_target)(y, rng, *d, pool);
}

}  // namespace thimble::ops::random_uniform_impl
#endif
