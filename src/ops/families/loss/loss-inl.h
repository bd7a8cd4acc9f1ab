// Sums of a loss's terms, in tiles over the thread pool. Included once per vector target.

#if defined(THIMBLE_OPS_COMMON_LOSS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_OPS_COMMON_LOSS_INL_H_
#undef THIMBLE_OPS_COMMON_LOSS_INL_H_
#else
#define THIMBLE_OPS_COMMON_LOSS_INL_H_
#endif

#include <algorithm>

#include "ops/families/kernel/elements-inl.h"
#include "ops/families/loss/loss_dims.h"
#include "ops/families/loss/loss_tiles.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

// The sum of term(io, i) over [begin, end); a term's lanes beyond the end are ignored.
template <class Term>
HWY_INLINE float sum_terms(int64_t begin, int64_t end, const Term& term) {
  constexpr int64_t kBlock = 1024;  // limits the rounding error of long sums
  const F32 d;
  Vec total = hn::Zero(d);
  int64_t i = begin;
  while (i + lanes() <= end) {
    const int64_t stop = std::min(end, i + kBlock);
    Vec block = hn::Zero(d);
    for (; i + lanes() <= stop; i += lanes()) block = hn::Add(block, term(WholeVectors(), i));
    total = hn::Add(total, block);
  }
  if (i < end) {
    const LastVector io(static_cast<int>(end - i));
    total = hn::Add(total, io.present(term(io, i), hn::Zero(d)));
  }
  return hn::GetLane(hn::SumOfLanes(d, total));
}

// *y = (the sum of term(io, i) over [0, n)) / divisor, or y[i] = term(io, i) without reduction.
// parts: one float per tile if there are several (loss_workspace).
template <class Term>
HWY_INLINE void reduce_terms(float* y, void* parts, const loss_dims& d, parallel::ThreadPool& pool,
                             const Term& term) {
  if (d.divisor == LOSS_TERMS) {
    over_elements(d.n, pool, [&](auto io, int64_t i) HWY_ATTR { io.store(term(io, i), y, i); });
    return;
  }
  const int64_t tiles = (d.n + kLossTile - 1) / kLossTile;
  float* const sums = tiles > 1 ? static_cast<float*>(parts) : y;
  *y = 0.0F;
  pool.run(tiles, [&](int64_t tile) HWY_ATTR {
    const int64_t begin = tile * kLossTile;
    sums[tile] = sum_terms(begin, std::min<int64_t>(d.n, begin + kLossTile), term);
  });
  double total = 0.0;
  for (int64_t tile = 0; tile < tiles; ++tile) total += static_cast<double>(sums[tile]);
  *y = static_cast<float>(total / d.divisor);
}

// Factors of the terms' derivatives: dy / divisor, or the dy of each term.
struct LossScale {
  const float* each;  // null if all terms share one
  float same;

  LossScale(const float* dy, const loss_dims& d)
      : each(d.divisor == LOSS_TERMS ? dy : nullptr),
        same(d.divisor == LOSS_TERMS ? 0.0F : *dy / static_cast<float>(d.divisor)) {}

  template <class Io>
  HWY_INLINE Vec operator()(const Io& io, int64_t i) const {
    return each != nullptr ? io.load(each, i) : hn::Set(F32(), same);
  }
};

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

// Defines the kernels of a loss and its gradient from op_target and op_grad_target.
#undef LOSS_SIMD_EXPORT
#if HWY_ONCE
#define LOSS_SIMD_EXPORT(op)                                                                      \
  namespace thimble::ops::op##_impl {                                                             \
    HWY_EXPORT(op##_target);                                                                      \
    HWY_EXPORT(op##_grad_target);                                                                 \
    void op##_simd(float* y, const float* x, const float* t, void* workspace, const loss_dims* d, \
                   parallel::ThreadPool& pool) {                                                  \
      HWY_DYNAMIC_DISPATCH(op##_target)(y, x, t, workspace, *d, pool);                            \
    }                                                                                             \
    void op##_grad_simd(float* dx, const float* dy, const float* x, const float* t,               \
                        const loss_dims* d, parallel::ThreadPool& pool) {                         \
      HWY_DYNAMIC_DISPATCH(op##_grad_target)(dx, dy, x, t, *d, pool);                             \
    }                                                                                             \
  }
#else
#define LOSS_SIMD_EXPORT(op)
#endif

#endif
