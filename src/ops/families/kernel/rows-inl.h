// Maxima, sums and exponentials of rows, and splitting of columns into tasks. Included once per
// vector target.

#if defined(THIMBLE_OPS_COMMON_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef THIMBLE_OPS_COMMON_ROWS_INL_H_
#undef THIMBLE_OPS_COMMON_ROWS_INL_H_
#else
#define THIMBLE_OPS_COMMON_ROWS_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>

#include <algorithm>
#include <limits>

#include "ops/families/kernel/elements-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

// exp(x) for x <= 0 or NaN; Highway's own returns 0 for NaN.
HWY_INLINE Vec exp_of_negative(Vec x) { return hn::IfThenElse(hn::IsNaN(x), x, hn::Exp(F32(), x)); }

// The maximum of n >= 1 elements; NaN may be ignored.
HWY_INLINE float row_max(const float* x, int n) {
  const F32 f;
  const Vec least = hn::Set(f, -std::numeric_limits<float>::infinity());
  Vec largest = least;
  over_vectors(0, n, [&](auto io, int64_t i) HWY_ATTR {
    largest = hn::Max(largest, io.present(io.load(x, i), least));
  });
  return hn::GetLane(hn::MaxOfLanes(f, largest));
}

// The sum of term(io, i) over a row.
template <class Term>
HWY_INLINE float row_sum(int n, const Term& term) {
  const F32 f;
  Vec sum = hn::Zero(f);
  over_vectors(0, n, [&](auto io, int64_t i) HWY_ATTR {
    sum = hn::Add(sum, io.present(term(io, i), hn::Zero(f)));
  });
  return hn::GetLane(hn::SumOfLanes(f, sum));
}

// Calls row(r) for r in [0, rows), in tasks that do not depend on the number of threads.
template <class Row>
HWY_INLINE void over_rows(int rows, int elements_per_row, parallel::ThreadPool& pool,
                          const Row& row) {
  const int64_t group = std::max<int64_t>(1, 8192 / std::max(1, elements_per_row));
  pool.run((rows + group - 1) / group, [&](int64_t task) HWY_ATTR {
    const int64_t end = std::min<int64_t>(rows, (task + 1) * group);
    for (int64_t r = task * group; r < end; ++r) row(r);
  });
}

// Calls run(matrix, begin, end) for ranges of columns of every matrix, in tasks that do not depend
// on the number of threads.
template <class Run>
HWY_INLINE void over_columns(int64_t matrices, int64_t columns, parallel::ThreadPool& pool,
                             const Run& run) {
  constexpr int64_t kColumns = 64;  // whole cache lines of every row
  const int64_t runs = (columns + kColumns - 1) / kColumns;
  pool.run(matrices * runs, [&](int64_t task) HWY_ATTR {
    const int64_t begin = task % runs * kColumns;
    run(task / runs, begin, std::min(columns, begin + kColumns));
  });
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
