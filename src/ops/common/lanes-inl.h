// Vectors whose last lanes may lie beyond the data. Included once per vector target.

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

using simd::HWY_NAMESPACE::F32;
using simd::HWY_NAMESPACE::lanes;
using simd::HWY_NAMESPACE::load_first;
using simd::HWY_NAMESPACE::store_first;
using simd::HWY_NAMESPACE::Vec;

// Loads or stores the first `count` lanes, 1 <= count <= lanes(), and touches nothing beyond.
HWY_INLINE Vec load(const float* from, int count) {
  return count == lanes() ? hn::LoadU(F32(), from) : load_first(from, count);
}

HWY_INLINE void store(Vec v, float* to, int count) {
  if (count == lanes()) {
    hn::StoreU(v, F32(), to);
  } else {
    store_first(v, to, count);
  }
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // THIMBLE_OPS_LANES_INL_H_
