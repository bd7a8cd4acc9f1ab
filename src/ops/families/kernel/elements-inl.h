// Elementwise loops over tensors of equal size, a vector at a time, in tiles over the thread pool.
// Included once per vector target.

#if defined(THIMBLE_OPS_COMMON_ELEMENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_OPS_COMMON_ELEMENTS_INL_H_
#undef THIMBLE_OPS_COMMON_ELEMENTS_INL_H_
#else
#define THIMBLE_OPS_COMMON_ELEMENTS_INL_H_
#endif

#include <algorithm>

#include "parallel/thread_pool.h"
#include "simd/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using simd::HWY_NAMESPACE::F32;
using simd::HWY_NAMESPACE::lanes;
using simd::HWY_NAMESPACE::Vec;

// Elements of a tile: small enough to share a medium-sized tensor among threads, large enough that
// the cost of a task does not matter. A multiple of every target's lanes.
inline constexpr int64_t kTileElements = 16384;

// Loads and stores whole vectors for a formula.
class WholeVectors {
 public:
  [[nodiscard]] HWY_INLINE Vec load(const float* from, int64_t i) const {
    return hn::LoadU(F32(), from + i);
  }
  HWY_INLINE void store(Vec v, float* to, int64_t i) const { hn::StoreU(v, F32(), to + i); }
  // v in lanes that hold elements, `other` elsewhere: for sums and maxima.
  [[nodiscard]] HWY_INLINE Vec present(Vec v, Vec /*other*/) const { return v; }
};

// Loads and stores the last few elements, touching nothing beyond them.
class LastVector {
 public:
  explicit LastVector(int count) : count_(count) {}
  [[nodiscard]] HWY_INLINE Vec load(const float* from, int64_t i) const {
    return simd::HWY_NAMESPACE::load_first(from + i, count_);
  }
  HWY_INLINE void store(Vec v, float* to, int64_t i) const {
    simd::HWY_NAMESPACE::store_first(v, to + i, count_);
  }
  [[nodiscard]] HWY_INLINE Vec present(Vec v, Vec other) const {
    return hn::IfThenElse(hn::FirstN(F32(), static_cast<size_t>(count_)), v, other);
  }

 private:
  int count_;
};

// Calls formula(io, i) for the elements [begin, end), a vector at a time; io loads and stores. A
// formula captures by value and is copied here, so that its constants stay in registers: through a
// reference each store might alias them.
template <class Formula>
HWY_INLINE void over_vectors(int64_t begin, int64_t end, const Formula formula) {
  int64_t i = begin;
  for (; i + lanes() <= end; i += lanes()) formula(WholeVectors(), i);
  if (i < end) formula(LastVector(static_cast<int>(end - i)), i);
}

// The same for [0, n), in tiles that do not depend on the number of threads.
template <class Formula>
HWY_INLINE void over_elements(int64_t n, parallel::ThreadPool& pool, const Formula& formula) {
  pool.run((n + kTileElements - 1) / kTileElements, [&](int64_t tile) HWY_ATTR {
    const int64_t begin = tile * kTileElements;
    over_vectors(begin, std::min(n, begin + kTileElements), formula);
  });
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
