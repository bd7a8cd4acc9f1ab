// Elementwise kernels of several broadcast tensors, a vector at a time, in tiles over the thread
// pool. Included once per vector target.

#if defined(THIMBLE_OPS_COMMON_NARY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_OPS_COMMON_NARY_INL_H_
#undef THIMBLE_OPS_COMMON_NARY_INL_H_
#else
#define THIMBLE_OPS_COMMON_NARY_INL_H_
#endif

#include <algorithm>

#include "ops/families/kernel/elements-inl.h"
#include "ops/families/nary/nary_dims.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

// Calls run(i, at, count) for runs of result elements: the run starts at i in the result and at
// at[0], at[1], ... in the inputs.
template <class Run>
HWY_INLINE void over_runs(const nary_dims& d, parallel::ThreadPool& pool, const Run& run) {
  if (d.n == 0) return;
  if (d.count == 1) {
    pool.run((d.n + kTileElements - 1) / kTileElements, [&](int64_t tile) HWY_ATTR {
      const int64_t begin = tile * kTileElements;
      ptrdiff_t at[NARY_MAX_INPUTS];
      for (int i = 0; i < NARY_MAX_INPUTS; ++i) at[i] = begin * d.stride[i][0];
      run(begin, at, std::min<int64_t>(kTileElements, d.n - begin));
    });
    return;
  }
  const int64_t inner = d.size[0];
  const int64_t runs = d.n / inner;
  const int64_t each = std::max<int64_t>(1, kTileElements / inner);
  pool.run((runs + each - 1) / each, [&](int64_t task) HWY_ATTR {
    const int64_t end = std::min(runs, (task + 1) * each);
    for (int64_t r = task * each; r < end; ++r) {
      ptrdiff_t at[NARY_MAX_INPUTS];
      nary_offsets(at, static_cast<int>(r * inner), &d);
      run(r * inner, at, inner);
    }
  });
}

// An input along one run: its consecutive elements, or one repeated element.
class Along {
 public:
  // from: null for an input that is left out; its value is then `missing`.
  HWY_INLINE Along(const float* from, ptrdiff_t at, int stride, float missing = 0.0F)
      : from_(from == nullptr ? nullptr : from + at),
        moves_(from != nullptr && stride == 1),
        fixed_(from == nullptr ? missing : from[at]) {}
  template <class Io>
  HWY_INLINE Vec operator()(const Io& io, int64_t i) const {
    return moves_ ? io.load(from_, i) : hn::Set(F32(), fixed_);
  }

 private:
  const float* from_;
  bool moves_;
  float fixed_;
};

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
