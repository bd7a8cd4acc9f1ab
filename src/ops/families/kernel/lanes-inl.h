// Loads and stores of vectors whose last lanes may lie beyond the data. Included once per vector
// target.

#if defined(THIMBLE_OPS_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_OPS_LANES_INL_H_
#undef THIMBLE_OPS_LANES_INL_H_
#else
#define THIMBLE_OPS_LANES_INL_H_
#endif

#include "simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using simd::HWY_NAMESPACE::activate;
using simd::HWY_NAMESPACE::F32;
using simd::HWY_NAMESPACE::lanes;
using simd::HWY_NAMESPACE::load_first;
using simd::HWY_NAMESPACE::store_first;
using simd::HWY_NAMESPACE::Vec;

// Loads `count` lanes, 1 <= count <= lanes(); the other lanes hold whatever memory before `end`
// contains. Most loads are then whole vectors even if few lanes are needed.
HWY_INLINE Vec load_within(const float* from, int count, const float* end) {
  return end - from >= lanes() ? hn::LoadU(F32(), from) : load_first(from, count);
}

// Stores `count` lanes and may overwrite memory after them up to `end`: for results that are
// written front to back.
HWY_INLINE void store_within(Vec v, float* to, int count, const float* end) {
  if (end - to >= lanes()) {
    hn::StoreU(v, F32(), to);
  } else {
    store_first(v, to, count);
  }
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // THIMBLE_OPS_LANES_INL_H_
