#include "ops/storage_16bit/simd.h"

#include <hwy/highway.h>

#include <algorithm>

#include "simd/convert_16bit-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::storage_16bit_impl::HWY_NAMESPACE {

void to_16bit_target(uint16_t* y, const float* x, int64_t n, bool brain_16) {
  simd::HWY_NAMESPACE::narrow_16bit(y, x, n, brain_16);
}

void from_16bit_target(float* y, const uint16_t* x, int64_t n, bool brain_16) {
  simd::HWY_NAMESPACE::widen_16bit(y, x, n, brain_16);
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
