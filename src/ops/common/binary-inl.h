// Fast kernels of the binary family: a folder's simd.cpp writes the formula on vectors. Included
// once per vector target.
//
//   BINARY_SIMD(op, value)   value: an expression in a, b and the tag f
//   BINARY_SIMD_EXPORT(op)   after HWY_AFTER_NAMESPACE: it on the best target

#if defined(THIMBLE_OPS_COMMON_BINARY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_OPS_COMMON_BINARY_INL_H_
#undef THIMBLE_OPS_COMMON_BINARY_INL_H_
#else
#define THIMBLE_OPS_COMMON_BINARY_INL_H_
#endif

#include <algorithm>

#include "ops/common/binary_dims.h"
#include "ops/common/elements-inl.h"
#include "simd/workspace.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

// n elements along the innermost axis; a step of 0 repeats the operand's one element.
template <class Formula>
HWY_INLINE void pair_row(float* y, const float* a, int step_a, const float* b, int step_b,
                         int64_t n, const Formula& formula) {
  const F32 f;
  if (step_a == 0) {
    const Vec same = hn::Set(f, *a);
    const Vec other = hn::Set(f, *b);
    over_vectors(0, n, [=](const auto& io, int64_t i) HWY_ATTR {
      io.store(formula(same, step_b == 0 ? other : io.load(b, i)), y, i);
    });
  } else if (step_b == 0) {
    const Vec same = hn::Set(f, *b);
    over_vectors(0, n, [=](const auto& io, int64_t i) HWY_ATTR {
      io.store(formula(io.load(a, i), same), y, i);
    });
  } else {
    over_vectors(0, n, [=](const auto& io, int64_t i) HWY_ATTR {
      io.store(formula(io.load(a, i), io.load(b, i)), y, i);
    });
  }
}

// Walks over rows of the innermost axis in order, without a division for each.
class PairRows {
 public:
  PairRows(const binary_dims& d, int64_t row) : d_(d) {
    for (int axis = 1; axis < d.count; ++axis) {
      at_[axis] = static_cast<int>(row % d.size[axis]);
      row /= d.size[axis];
      a_ += static_cast<ptrdiff_t>(at_[axis]) * d.stride_a[axis];
      b_ += static_cast<ptrdiff_t>(at_[axis]) * d.stride_b[axis];
    }
  }
  // Where the operands of the row start.
  [[nodiscard]] ptrdiff_t a() const { return a_; }
  [[nodiscard]] ptrdiff_t b() const { return b_; }
  void next() {
    for (int axis = 1; axis < d_.count; ++axis) {
      a_ += d_.stride_a[axis];
      b_ += d_.stride_b[axis];
      if (++at_[axis] < d_.size[axis]) return;
      at_[axis] = 0;
      a_ -= static_cast<ptrdiff_t>(d_.size[axis]) * d_.stride_a[axis];
      b_ -= static_cast<ptrdiff_t>(d_.size[axis]) * d_.stride_b[axis];
    }
  }

 private:
  const binary_dims& d_;
  int at_[BINARY_MAX_AXES] = {};
  ptrdiff_t a_ = 0;
  ptrdiff_t b_ = 0;
};

// Longest row that is repeated through a copy of itself.
inline constexpr int kMaxPeriod = 64;

// Whether one operand is whole and the other one a short row, the same for all: a bias.
HWY_INLINE bool repeats_short_row(const int* whole, const int* row, const binary_dims& d) {
  return d.count == 2 && d.size[0] <= kMaxPeriod && d.size[0] % lanes() != 0 && whole[0] == 1 &&
         whole[1] == d.size[0] && row[0] == 1 && row[1] == 0;
}

// formula(whole[i], row[i % period]) for [begin, end), from a copy of the row that goes on with
// itself, so that a vector may start anywhere in it.
template <class Formula>
HWY_INLINE void over_repeated_row(float* y, const float* whole, const float* row, int period,
                                  int64_t begin, int64_t end, const Formula formula) {
  const F32 f;
  HWY_ALIGN float copy[kMaxPeriod + HWY_LANES(float)];
  for (int i = 0; i < period + lanes(); ++i) copy[i] = i < period ? row[i] : copy[i - period];
  const int step = lanes() % period;
  int at = static_cast<int>(begin % period);
  int64_t i = begin;
  for (; i + lanes() <= end; i += lanes()) {
    hn::StoreU(formula(hn::LoadU(f, whole + i), hn::LoadU(f, copy + at)), f, y + i);
    at += step;
    if (at >= period) at -= period;
  }
  if (i < end) {
    const LastVector io(static_cast<int>(end - i));
    io.store(formula(io.load(whole, i), hn::LoadU(f, copy + at)), y, i);
  }
}

// y = formula(a, b), in tasks that do not depend on the number of threads.
template <class Formula>
HWY_INLINE void over_pairs(float* y, const float* a, const float* b, const binary_dims& d,
                           exec::ThreadPool& pool, const Formula& formula) {
  const int64_t inner = d.size[0];
  if (d.n == 0) return;
  const bool short_b = repeats_short_row(d.stride_a, d.stride_b, d);
  if (short_b || repeats_short_row(d.stride_b, d.stride_a, d)) {
    pool.run(simd::divide_up(d.n, kTileElements), [&](int64_t tile) HWY_ATTR {
      const int64_t begin = tile * kTileElements;
      const int64_t end = std::min<int64_t>(d.n, begin + kTileElements);
      if (short_b) {
        over_repeated_row(y, a, b, d.size[0], begin, end, formula);
      } else {
        over_repeated_row(y, b, a, d.size[0], begin, end,
                          [=](Vec whole, Vec row) HWY_ATTR { return formula(row, whole); });
      }
    });
    return;
  }
  // Long rows fall into several tasks, short ones share a task.
  const int64_t rows = d.n / inner;
  const int64_t rows_each = std::max<int64_t>(1, kTileElements / inner);
  const int64_t pieces = simd::divide_up(inner, kTileElements);
  pool.run(simd::divide_up(rows, rows_each) * pieces, [&](int64_t task) HWY_ATTR {
    const int64_t first = task / pieces * rows_each;
    const int64_t last = std::min(rows, first + rows_each);
    const int64_t begin = task % pieces * kTileElements;
    const int64_t count = std::min<int64_t>(inner - begin, kTileElements);
    PairRows at(d, first);
    for (int64_t row = first; row < last; ++row, at.next()) {
      pair_row(y + row * inner + begin, a + at.a() + begin * d.stride_a[0], d.stride_a[0],
               b + at.b() + begin * d.stride_b[0], d.stride_b[0], count, formula);
    }
  });
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#undef BINARY_SIMD
#define BINARY_SIMD(op, value)                                                       \
  void op##_target(float* y, const float* a_, const float* b_, const binary_dims* d, \
                   exec::ThreadPool& pool) {                                         \
    over_pairs(y, a_, b_, *d, pool, [](Vec a, Vec b) HWY_ATTR -> Vec {               \
      [[maybe_unused]] const F32 f;                                                  \
      return (value);                                                                \
    });                                                                              \
  }

#undef BINARY_SIMD_EXPORT
#if HWY_ONCE
#define BINARY_SIMD_EXPORT(op)                                                   \
  namespace thimble::ops {                                                       \
  HWY_EXPORT(op##_target);                                                       \
  void op##_simd(float* y, const float* a, const float* b, const binary_dims* d, \
                 exec::ThreadPool& pool) {                                       \
    HWY_DYNAMIC_DISPATCH(op##_target)(y, a, b, d, pool);                         \
  }                                                                              \
  }
#else
#define BINARY_SIMD_EXPORT(op)
#endif

#endif
