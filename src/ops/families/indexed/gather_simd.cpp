#include "ops/families/indexed/gather.h"

#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "simd/pack-inl.h"
#include "simd/workspace.h"

#ifndef THIMBLE_OPS_COMMON_GATHER_ONCE_
#define THIMBLE_OPS_COMMON_GATHER_ONCE_
namespace thimble::ops {

// Elements per task where rows are copied unchanged.
inline constexpr int kGatherTask = 16384;
// A matrix is transposed in squares with this side, so that the cache lines of both tensors stay in
// the first-level cache.
inline constexpr int kSquare = 64;

// Sees y as matrices whose columns are contiguous in x.
struct GatherPlan {
  int axis = 0;  // the axis of y along which x is contiguous; 0: rows are copied unchanged
  int row_squares = 1, column_squares = 1;
  int64_t matrices = 1;  // one for each combination of indices of the other axes
  int64_t pitch = 1;     // distance in y between indices of the axis, in elements
};

inline GatherPlan plan_gather(const strided_dims& d) {
  GatherPlan plan;
  for (int a = 1; a < d.count; ++a) {
    if (d.stride[a] == 1 && d.stride[0] != 1) plan.axis = a;
  }
  for (int a = 0; a < plan.axis; ++a) plan.pitch *= d.size[a];
  plan.column_squares = static_cast<int>(simd::divide_up(d.size[0], kSquare));
  plan.row_squares = static_cast<int>(simd::divide_up(d.size[plan.axis], kSquare));
  for (int a = 1; a < d.count; ++a) {
    if (a != plan.axis) plan.matrices *= d.size[a];
  }
  return plan;
}

// Where a matrix begins in x and in y.
struct MatrixStart {
  ptrdiff_t x, y;
};

inline MatrixStart start_of(const strided_dims& d, const GatherPlan& plan, int64_t matrix) {
  MatrixStart start{d.offset, 0};
  ptrdiff_t pitch = d.size[0];
  for (int a = 1; a < d.count; ++a) {
    if (a != plan.axis) {
      start.x += static_cast<ptrdiff_t>(matrix % d.size[a]) * d.stride[a];
      start.y += static_cast<ptrdiff_t>(matrix % d.size[a]) * pitch;
      matrix /= d.size[a];
    }
    pitch *= d.size[a];
  }
  return start;
}

}  // namespace thimble::ops
#endif

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {
using simd::HWY_NAMESPACE::transpose_copy;

// y[i * pitch + j] = x[j * stride + i] for all matrices, square by square.
void transpose_squares(float* y, const float* x, const strided_dims& d, const GatherPlan& plan,
                       parallel::ThreadPool& pool) {
  const int columns = d.size[0];
  const int rows = d.size[plan.axis];
  const int64_t squares = static_cast<int64_t>(plan.row_squares) * plan.column_squares;
  const int64_t elements =
      static_cast<int64_t>(std::min(rows, kSquare)) * std::min(columns, kSquare);
  const int64_t group = std::max<int64_t>(1, kGatherTask / elements);
  const int64_t all = plan.matrices * squares;
  pool.run(simd::divide_up(all, group), [&](int64_t task) {
    const int64_t end = std::min(all, (task + 1) * group);
    for (int64_t square = task * group; square < end; ++square) {
      const MatrixStart start = start_of(d, plan, square / squares);
      const int i = static_cast<int>(square % plan.row_squares) * kSquare;
      const int j = static_cast<int>(square % squares / plan.row_squares) * kSquare;
      transpose_copy(y + start.y + i * plan.pitch + j, plan.pitch,
                     x + start.x + static_cast<ptrdiff_t>(j) * d.stride[0] + i, d.stride[0],
                     std::min(kSquare, columns - j), std::min(kSquare, rows - i));
    }
  });
}

// Copies rows that are contiguous, or strided, in x.
void copy_rows(float* y, const float* x, const strided_dims& d, parallel::ThreadPool& pool) {
  const int inner = d.size[0];
  const ptrdiff_t step = d.stride[0];
  const int64_t rows = d.n / inner;
  const int64_t group = std::max(1, kGatherTask / inner);
  pool.run(simd::divide_up(rows, group), [&](int64_t task) {
    const int64_t end = std::min(rows, (task + 1) * group);
    for (int64_t row = task * group; row < end; ++row) {
      float* to = y + row * inner;
      const float* from = x + strided_offset(static_cast<int>(row * inner), &d);
      if (step == 1) {
        std::memcpy(to, from, static_cast<size_t>(inner) * sizeof(float));
      } else {
        for (int i = 0; i < inner; ++i) to[i] = from[i * step];
      }
    }
  });
}

void gather_target(float* y, const float* x, const strided_dims& d, parallel::ThreadPool& pool) {
  const GatherPlan plan = plan_gather(d);
  if (plan.axis > 0) {
    transpose_squares(y, x, d, plan, pool);
  } else {
    copy_rows(y, x, d, pool);
  }
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops {
HWY_EXPORT(gather_target);

void gather_simd(float* y, const float* x, const strided_dims* d, parallel::ThreadPool& pool) {
  if (d->n == 0) return;
  HWY_DYNAMIC_DISPATCH(gather_target)(y, x, *d, pool);
}

}  // namespace thimble::ops
#endif
