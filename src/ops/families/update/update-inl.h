// Shared by the vector kernels of optimizers. Included once per vector target.

#if defined(THIMBLE_OPS_COMMON_UPDATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_OPS_COMMON_UPDATE_INL_H_
#undef THIMBLE_OPS_COMMON_UPDATE_INL_H_
#else
#define THIMBLE_OPS_COMMON_UPDATE_INL_H_
#endif

#include "ops/families/kernel/elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

constexpr int64_t element_tiles(int64_t n) { return (n + kTileElements - 1) / kTileElements; }

HWY_INLINE Vec set(double value) { return hn::Set(F32(), static_cast<float>(value)); }

// The gradient as formulas use it: negated to maximize, with weight decay added.
class GradientRule {
 public:
  GradientRule(bool maximize, double weight_decay)
      : maximize_(maximize), decays_(weight_decay != 0.0), decay_(set(weight_decay)) {}
  [[nodiscard]] HWY_INLINE Vec operator()(Vec grad, Vec param) const {
    const Vec g = maximize_ ? hn::Neg(grad) : grad;
    return decays_ ? hn::MulAdd(decay_, param, g) : g;
  }

 private:
  bool maximize_;
  bool decays_;
  Vec decay_;
};

// average + share * (x - average)
HWY_INLINE Vec moved(Vec average, Vec share, Vec x) {
  return hn::MulAdd(share, hn::Sub(x, average), average);
}

// keep * average + share * x^2
HWY_INLINE Vec moved_square(Vec average, Vec keep, Vec share, Vec x) {
  return hn::MulAdd(keep, average, hn::Mul(hn::Mul(share, x), x));
}

// The sign: -1, 0 or 1; NaN for NaN.
HWY_INLINE Vec sign_of(Vec x) {
  const Vec zero = hn::Zero(F32());
  const Vec one = set(1.0);
  return hn::IfThenElse(hn::Gt(x, zero), one, hn::IfThenElse(hn::Lt(x, zero), hn::Neg(one), x));
}

// Calls formula(io, i, sums) for the elements [begin, end); it adds the contribution of the vectors
// at i to both sums. Writes the totals to out: [2].
template <class Formula>
HWY_INLINE void sum_vectors(int64_t begin, int64_t end, double* out, const Formula formula) {
  const F32 f;
  Vec sums[2] = {hn::Zero(f), hn::Zero(f)};
  int64_t i = begin;
  for (; i + lanes() <= end; i += lanes()) formula(WholeVectors(), i, sums);
  if (i < end) formula(LastVector(static_cast<int>(end - i)), i, sums);
  for (int k = 0; k < 2; ++k) {
    out[k] = static_cast<double>(hn::GetLane(hn::SumOfLanes(f, sums[k])));
  }
}

// The same for [0, n), in tiles; totals: [2]. tile_sums: [2 * element_tiles(n)] of scratch memory.
template <class Formula>
HWY_INLINE void sum_elements(int64_t n, parallel::ThreadPool& pool, double* tile_sums,
                             double* totals, const Formula& formula) {
  const int64_t tiles = element_tiles(n);
  pool.run(tiles, [&](int64_t tile) HWY_ATTR {
    const int64_t begin = tile * kTileElements;
    sum_vectors(begin, std::min(n, begin + kTileElements), tile_sums + 2 * tile, formula);
  });
  // Added in order, so that the bits do not depend on the order in which threads finish.
  totals[0] = totals[1] = 0.0;
  for (int64_t tile = 0; tile < tiles; ++tile) {
    totals[0] += tile_sums[2 * tile];
    totals[1] += tile_sums[2 * tile + 1];
  }
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
