#include <hwy/highway.h>

#include "ops/families/kernel/elements-inl.h"
#include "ops/families/random/random_dims.h"
#include "parallel/thread_pool.h"
#include "simd/philox-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::dropout_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

using simd::HWY_NAMESPACE::over_words;
using simd::HWY_NAMESPACE::U32;
using simd::HWY_NAMESPACE::Words;

void dropout_target(float* y, const uint32_t* rng, const float* x, const random_dims& d,
                    parallel::ThreadPool& pool) {
  const F32 f;
  const hn::RebindToSigned<U32> integers;
  const Vec scale = hn::Set(f, static_cast<float>(d.a));
  const auto below = hn::Set(integers, static_cast<int32_t>(d.limit) - 1);
  over_words(d.n, rng, d.stream, pool,
             [&](const uint32_t* words, int at, int64_t begin, int count) HWY_ATTR {
               over_vectors(0, count, [&](auto io, int64_t i) HWY_ATTR {
                 // Numbers of 24 bits compare equally as signed and unsigned.
                 const Words drawn = hn::ShiftRight<8>(hn::LoadU(U32(), words + at + i));
                 const auto kept = hn::RebindMask(f, hn::Gt(hn::BitCast(integers, drawn), below));
                 io.store(hn::IfThenElseZero(kept, hn::Mul(io.load(x + begin, i), scale)),
                          y + begin, i);
               });
             });
}

}  // namespace thimble::ops::dropout_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::dropout_impl {
HWY_EXPORT(dropout_target);

void dropout_simd(float* y, const uint32_t* rng, const float* x, const random_dims* d,
                  parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(dropout_target)(y, rng, x, *d, pool);
}

}  // namespace thimble::ops::dropout_impl
#endif
