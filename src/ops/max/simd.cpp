#include "ops/max/simd.h"

#include <algorithm>
#include <limits>

#include "ops/common/matrices.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/max/simd.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "ops/common/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

// The larger of what was found so far and what comes next; NaN stays.
HWY_INLINE Vec larger(Vec so_far, Vec next) {
  return hn::IfThenElse(hn::Or(hn::Gt(next, so_far), hn::IsNaN(next)), next, so_far);
}

// The largest of n >= 1 neighbours, NaN where one of them is.
float largest_of_row(const float* x, int n) {
  const F32 f;
  const Vec first = hn::Set(f, x[0]);
  // Four at a time hide the time that a comparison takes.
  Vec found[4] = {first, first, first, first};
  int i = 0;
  for (; i + 4 * lanes() <= n; i += 4 * lanes()) {
    THIMBLE_UNROLL
    for (int k = 0; k < 4; ++k) found[k] = larger(found[k], hn::LoadU(f, x + i + k * lanes()));
  }
  Vec largest = larger(larger(found[0], found[1]), larger(found[2], found[3]));
  over_vectors(i, n, [&](auto io, int64_t at) HWY_ATTR {
    largest = larger(largest, io.present(io.load(x, at), first));
  });
  if (!hn::AllFalse(f, hn::IsNaN(largest))) return std::numeric_limits<float>::quiet_NaN();
  return hn::GetLane(hn::MaxOfLanes(f, largest));
}

// Columns [begin, end) of one matrix: the largest of every column.
void largest_of_columns(float* y, const float* x, const Matrices& m, int64_t begin, int64_t end) {
  over_vectors(begin, end, [&](auto io, int64_t c) HWY_ATTR {
    Vec largest = io.load(x, c);
    for (int r = 1; r < m.rows; ++r) {
      largest = larger(largest, io.load(x, static_cast<int64_t>(r) * m.columns + c));
    }
    io.store(largest, y, c);
  });
}

// dx of one row.
void share_of_row(float* dx, float dy, const float* x, float y, int n) {
  const F32 f;
  const Vec largest = hn::Set(f, y);
  const float ties = row_sum(n, [&](auto io, int64_t i) HWY_ATTR {
    return hn::IfThenElseZero(hn::Eq(io.load(x, i), largest), hn::Set(f, 1.0F));
  });
  const Vec share = hn::Set(f, dy / ties);
  over_vectors(0, n, [&](auto io, int64_t i) HWY_ATTR {
    io.store(hn::IfThenElseZero(hn::Eq(io.load(x, i), largest), share), dx, i);
  });
}

// Columns [begin, end) of one matrix of dx.
void share_of_columns(float* dx, const float* dy, const float* x, const float* y, const Matrices& m,
                      int64_t begin, int64_t end) {
  const F32 f;
  over_vectors(begin, end, [&](auto io, int64_t c) HWY_ATTR {
    const Vec largest = io.load(y, c);
    Vec ties = hn::Zero(f);
    for (int r = 0; r < m.rows; ++r) {
      const Vec value = io.load(x, static_cast<int64_t>(r) * m.columns + c);
      ties = hn::Add(ties, hn::IfThenElseZero(hn::Eq(value, largest), hn::Set(f, 1.0F)));
    }
    const Vec share = hn::Div(io.load(dy, c), ties);
    for (int r = 0; r < m.rows; ++r) {
      const int64_t at = static_cast<int64_t>(r) * m.columns + c;
      io.store(hn::IfThenElseZero(hn::Eq(io.load(x, at), largest), share), dx, at);
    }
  });
}

void max_target(float* y, const float* x, const reduce_dims& d, exec::ThreadPool& pool) {
  const Matrices m = matrices_of(d);
  if (m.columns == 1) {
    over_rows(m.outer, m.rows, pool,
              [&](int64_t r) { y[r] = largest_of_row(x + r * m.rows, m.rows); });
    return;
  }
  const int64_t elements = static_cast<int64_t>(m.rows) * m.columns;
  over_columns(m.outer, m.columns, pool, [&](int64_t matrix, int64_t begin, int64_t end) {
    largest_of_columns(y + matrix * m.columns, x + matrix * elements, m, begin, end);
  });
}

void max_grad_target(float* dx, const float* dy, const float* x, const float* y,
                     const reduce_dims& d, exec::ThreadPool& pool) {
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

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops {
HWY_EXPORT(max_target);
HWY_EXPORT(max_grad_target);

void max_simd(float* y, const float* x, const reduce_dims* d, exec::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(max_target)(y, x, *d, pool);
}

void max_grad_simd(float* dx, const float* dy, const float* x, const float* y, const reduce_dims* d,
                   exec::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(max_grad_target)(dx, dy, x, y, *d, pool);
}

}  // namespace thimble::ops
#endif
