#include "ops/families/extremum/extremum.h"

#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "ops/families/kernel/rows-inl.h"
#include "ops/families/reduction/matrices.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

// The comparison, and the extreme lane of a vector.
struct Largest {
  static HWY_INLINE auto comes_before(Vec a, Vec b) { return hn::Gt(a, b); }
  static HWY_INLINE Vec of(Vec a, Vec b) { return hn::Max(a, b); }
  static HWY_INLINE Vec of_lanes(Vec v) { return hn::MaxOfLanes(F32(), v); }
};
struct Smallest {
  static HWY_INLINE auto comes_before(Vec a, Vec b) { return hn::Lt(a, b); }
  static HWY_INLINE Vec of(Vec a, Vec b) { return hn::Min(a, b); }
  static HWY_INLINE Vec of_lanes(Vec v) { return hn::MinOfLanes(F32(), v); }
};

// The better of the value found so far and the next one; NaN propagates.
template <class E>
HWY_INLINE Vec better(Vec so_far, Vec next) {
  return hn::IfThenElse(hn::Or(E::comes_before(next, so_far), hn::IsNaN(next)), next, so_far);
}

// The best of n >= 1 contiguous values; NaN if any is NaN.
template <class E>
float best_of_row(const float* x, int n) {
  const F32 f;
  const Vec first = hn::Set(f, x[0]);
  // Four accumulators hide the latency of the comparison.
  Vec found[4] = {first, first, first, first};
  int i = 0;
  for (; i + 4 * lanes() <= n; i += 4 * lanes()) {
    THIMBLE_UNROLL
    for (int k = 0; k < 4; ++k) found[k] = better<E>(found[k], hn::LoadU(f, x + i + k * lanes()));
  }
  Vec best = better<E>(better<E>(found[0], found[1]), better<E>(found[2], found[3]));
  over_vectors(i, n, [&](auto io, int64_t at) HWY_ATTR {
    best = better<E>(best, io.present(io.load(x, at), first));
  });
  if (!hn::AllFalse(f, hn::IsNaN(best))) return std::numeric_limits<float>::quiet_NaN();
  return hn::GetLane(E::of_lanes(best));
}

// The best of every column in [begin, end) of one matrix.
template <class E>
void best_of_columns(float* y, const float* x, const Matrices& m, int64_t begin, int64_t end) {
  over_vectors(begin, end, [&](auto io, int64_t c) HWY_ATTR {
    Vec best = io.load(x, c);
    for (int r = 1; r < m.rows; ++r) {
      best = better<E>(best, io.load(x, static_cast<int64_t>(r) * m.columns + c));
    }
    io.store(best, y, c);
  });
}

// dx of one row.
void share_of_row(float* dx, float dy, const float* x, float y, int n) {
  const F32 f;
  const Vec best = hn::Set(f, y);
  const float ties = row_sum(n, [&](auto io, int64_t i) HWY_ATTR {
    return hn::IfThenElseZero(hn::Eq(io.load(x, i), best), hn::Set(f, 1.0F));
  });
  const Vec share = hn::Set(f, dy / ties);
  over_vectors(0, n, [&](auto io, int64_t i) HWY_ATTR {
    io.store(hn::IfThenElseZero(hn::Eq(io.load(x, i), best), share), dx, i);
  });
}

// dx of columns [begin, end) of one matrix.
void share_of_columns(float* dx, const float* dy, const float* x, const float* y, const Matrices& m,
                      int64_t begin, int64_t end) {
  const F32 f;
  over_vectors(begin, end, [&](auto io, int64_t c) HWY_ATTR {
    const Vec best = io.load(y, c);
    Vec ties = hn::Zero(f);
    for (int r = 0; r < m.rows; ++r) {
      const Vec value = io.load(x, static_cast<int64_t>(r) * m.columns + c);
      ties = hn::Add(ties, hn::IfThenElseZero(hn::Eq(value, best), hn::Set(f, 1.0F)));
    }
    const Vec share = hn::Div(io.load(dy, c), ties);
    for (int r = 0; r < m.rows; ++r) {
      const int64_t at = static_cast<int64_t>(r) * m.columns + c;
      io.store(hn::IfThenElseZero(hn::Eq(io.load(x, at), best), share), dx, at);
    }
  });
}

template <class E>
void extremum(float* y, const float* x, const reduce_dims& d, parallel::ThreadPool& pool) {
  const Matrices m = matrices_of(d);
  if (m.columns == 1) {
    over_rows(m.outer, m.rows, pool,
              [&](int64_t r) { y[r] = best_of_row<E>(x + r * m.rows, m.rows); });
    return;
  }
  const int64_t elements = static_cast<int64_t>(m.rows) * m.columns;
  over_columns(m.outer, m.columns, pool, [&](int64_t matrix, int64_t begin, int64_t end) {
    best_of_columns<E>(y + matrix * m.columns, x + matrix * elements, m, begin, end);
  });
}

void extremum_grad_target(float* dx, const float* dy, const float* x, const float* y,
                          const reduce_dims& d, parallel::ThreadPool& pool) {
  const Matrices m = matrices_of(d);
  if (m.columns == 1) {
    over_rows(m.outer, m.rows, pool, [&](int64_t r) {
      share_of_row(dx + r * m.rows, dy[r], x + r * m.rows, y[r], m.rows);
    });
    return;
  }
  const int64_t elements = static_cast<int64_t>(m.rows) * m.columns;
  over_columns(m.outer, m.columns, pool, [&](int64_t matrix, int64_t begin, int64_t end) {
    const int64_t first = matrix * m.columns;
    share_of_columns(dx + matrix * elements, dy + first, x + matrix * elements, y + first, m, begin,
                     end);
  });
}

// The first i < n for which matches(vector of x[i...]) holds; n if there is none.
template <class Matches>
HWY_INLINE int first_match(const float* x, int n, const Matches& matches) {
  const F32 f;
  int i = 0;
  for (; i + lanes() <= n; i += lanes()) {
    const intptr_t lane = hn::FindFirstTrue(f, matches(hn::LoadU(f, x + i)));
    if (lane >= 0) return i + static_cast<int>(lane);
  }
  if (i == n) return n;
  // Lanes after the last element repeat the first element, which did not match.
  const LastVector io(n - i);
  const Vec rest = io.present(io.load(x, i), hn::Set(f, x[0]));
  const intptr_t lane = hn::FindFirstTrue(f, matches(rest));
  return lane >= 0 ? i + static_cast<int>(lane) : n;
}

// The index of the first NaN, or else of the first of the best elements.
template <class E>
int place_of_best(const float* x, int n) {
  const F32 f;
  Vec any_nan = hn::Zero(f);
  over_vectors(0, n, [&](auto io, int64_t i) HWY_ATTR {
    const Vec value = io.load(x, i);
    any_nan = hn::Or(any_nan, hn::Sub(value, value));  // 0, or NaN for NaN and infinities
  });
  if (!hn::AllTrue(f, hn::Eq(any_nan, any_nan))) {
    const int nan = first_match(x, n, [](Vec v) HWY_ATTR { return hn::IsNaN(v); });
    if (nan < n) return nan;
  }
  const Vec first = hn::Set(f, x[0]);
  Vec found = first;
  over_vectors(0, n, [&](auto io, int64_t i) HWY_ATTR {
    found = E::of(found, io.present(io.load(x, i), first));
  });
  const Vec best = hn::Set(f, hn::GetLane(E::of_lanes(found)));
  return first_match(x, n, [&](Vec v) HWY_ATTR { return hn::Eq(v, best); });
}

template <class E>
void place(int32_t* y, const float* x, const axis_dims& d, parallel::ThreadPool& pool) {
  over_rows(d.outer, d.size, pool,
            [&](int64_t r) { y[r] = place_of_best<E>(x + r * d.size, d.size); });
}

void largest_target(float* y, const float* x, const reduce_dims& d, parallel::ThreadPool& pool) {
  extremum<Largest>(y, x, d, pool);
}
void smallest_target(float* y, const float* x, const reduce_dims& d, parallel::ThreadPool& pool) {
  extremum<Smallest>(y, x, d, pool);
}
void place_of_largest_target(int32_t* y, const float* x, const axis_dims& d,
                             parallel::ThreadPool& pool) {
  place<Largest>(y, x, d, pool);
}
void place_of_smallest_target(int32_t* y, const float* x, const axis_dims& d,
                              parallel::ThreadPool& pool) {
  place<Smallest>(y, x, d, pool);
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops {
HWY_EXPORT(largest_target);
HWY_EXPORT(smallest_target);
HWY_EXPORT(extremum_grad_target);
HWY_EXPORT(place_of_largest_target);
HWY_EXPORT(place_of_smallest_target);

void largest_simd(float* y, const float* x, const reduce_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(largest_target)(y, x, *d, pool);
}

void smallest_simd(float* y, const float* x, const reduce_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(smallest_target)(y, x, *d, pool);
}

void extremum_grad_simd(float* dx, const float* dy, const float* x, const float* y,
                        const reduce_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(extremum_grad_target)(dx, dy, x, y, *d, pool);
}

void place_of_largest_simd(int32_t* y, const float* x, const axis_dims* d,
                           parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(place_of_largest_target)(y, x, *d, pool);
}

void place_of_smallest_simd(int32_t* y, const float* x, const axis_dims* d,
                            parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(place_of_smallest_target)(y, x, *d, pool);
}

}  // namespace thimble::ops
#endif
