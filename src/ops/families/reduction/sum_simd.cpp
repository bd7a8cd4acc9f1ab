#include "ops/families/reduction/sum.h"

#include <hwy/highway.h>

#include <algorithm>

#include "ops/families/reduction/matrices.h"
#include "simd/tile-inl.h"
#include "simd/workspace.h"

#ifndef THIMBLE_OPS_COMMON_SUM_ONCE_
#define THIMBLE_OPS_COMMON_SUM_ONCE_
namespace thimble::ops {

// Elements per task: large enough to outweigh the cost of a task, small enough to share the work.
inline constexpr int kSumTask = 16384;
// Wider matrices are cut into panels of columns, narrower ones into blocks of rows.
inline constexpr int kPanelColumns = 128;

// How the work is split.
struct SumPlan : Matrices {
  int row_blocks = 1, block_rows = 1;  // each block has partial sums of its own
  int panels = 1;
};

inline SumPlan plan_sum(const reduce_dims& d) {
  SumPlan plan{matrices_of(d)};
  if (!plan.regular) return plan;
  plan.block_rows = plan.rows;
  if (plan.columns > kPanelColumns) {
    plan.panels = static_cast<int>(simd::divide_up(plan.columns, kPanelColumns));
  } else if (plan.rows * static_cast<int64_t>(plan.columns) > 2 * kSumTask) {
    plan.block_rows = kSumTask / plan.columns;
    plan.row_blocks = static_cast<int>(simd::divide_up(plan.rows, plan.block_rows));
  }
  return plan;
}

}  // namespace thimble::ops
#endif

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using simd::HWY_NAMESPACE::F32;
using simd::HWY_NAMESPACE::lanes;
using simd::HWY_NAMESPACE::load_first;
using simd::HWY_NAMESPACE::store_first;
using simd::HWY_NAMESPACE::Vec;

// The sum of n contiguous values. x_end: the end of readable memory.
float sum_run(const float* x, int n, const float* x_end) {
  constexpr int kBlock = 1024;  // limits the rounding error of long sums
  const F32 d;
  Vec total = hn::Zero(d);
  int i = 0;
  while (i + lanes() <= n) {
    const int end = std::min(n, i + kBlock);
    Vec a = hn::Zero(d);
    Vec b = a;
    Vec c = a;
    Vec e = a;
    for (; i + 4 * lanes() <= end; i += 4 * lanes()) {
      a = hn::Add(a, hn::LoadU(d, x + i));
      b = hn::Add(b, hn::LoadU(d, x + i + lanes()));
      c = hn::Add(c, hn::LoadU(d, x + i + 2 * lanes()));
      e = hn::Add(e, hn::LoadU(d, x + i + 3 * lanes()));
    }
    for (; i + lanes() <= end; i += lanes()) a = hn::Add(a, hn::LoadU(d, x + i));
    total = hn::Add(total, hn::Add(hn::Add(a, b), hn::Add(c, e)));
  }
  if (i < n) {
    // Full loads are faster than masked ones outside the caches.
    const Vec last =
        x_end - (x + i) >= lanes()
            ? hn::IfThenElseZero(hn::FirstN(d, static_cast<size_t>(n - i)), hn::LoadU(d, x + i))
            : load_first(x + i, n - i);
    total = hn::Add(total, last);
  }
  return hn::GetLane(hn::SumOfLanes(d, total));
}

// Vector v of kVectors of a row; the last of them has `part` columns if kPartial.
template <bool kPartial, int kVectors>
HWY_INLINE Vec load_column(const float* row, int v, int part) {
  const float* const from = row + v * lanes();
  return kPartial && v + 1 == kVectors ? load_first(from, part) : hn::LoadU(F32(), from);
}

// sums[v] += the sum of some rows of x. Rows are added in pairs, so that few additions come one
// after another.
template <bool kPartial, int kVectors>
HWY_INLINE void add_rows(Vec (&sums)[kVectors], const float* x, int rows, ptrdiff_t pitch,
                         int part) {
  const F32 d;
  Vec own[kVectors];
  for (Vec& sum : own) sum = hn::Zero(d);
  const auto load = [part](const float* row, int v)
                        HWY_ATTR { return load_column<kPartial, kVectors>(row, v, part); };
  int r = 0;
  for (; r + 2 <= rows; r += 2, x += 2 * pitch) {
    THIMBLE_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      own[v] = hn::Add(own[v], hn::Add(load(x, v), load(x + pitch, v)));
    }
  }
  for (; r < rows; ++r, x += pitch) {
    for (int v = 0; v < kVectors; ++v) own[v] = hn::Add(own[v], load(x, v));
  }
  for (int v = 0; v < kVectors; ++v) sums[v] = hn::Add(sums[v], own[v]);
}

// out[c] = sum over rows of x[r * pitch + c] for kVectors vectors, of which the last has as many
// columns as are left.
template <bool kPartial, int kVectors>
void sum_column_vectors(float* out, const float* x, int rows, ptrdiff_t pitch, int columns) {
  // Sums of sums limit the rounding error: it grows with the additions one after another.
  constexpr int kStep = 32;
  constexpr int kBlock = 1024;
  const F32 d;
  Vec totals[kVectors];
  for (Vec& total : totals) total = hn::Zero(d);
  const int part = columns - (kVectors - 1) * lanes();
  for (int begin = 0; begin < rows; begin += kBlock) {
    const int end = std::min(rows, begin + kBlock);
    Vec sums[kVectors];
    for (Vec& sum : sums) sum = hn::Zero(d);
    for (int r = begin; r < end; r += kStep) {
      add_rows<kPartial>(sums, x + r * pitch, std::min(kStep, end - r), pitch, part);
    }
    for (int v = 0; v < kVectors; ++v) totals[v] = hn::Add(totals[v], sums[v]);
  }
  for (int v = 0; v + 1 < kVectors; ++v) hn::StoreU(totals[v], d, out + v * lanes());
  store_first(totals[kVectors - 1], out + (kVectors - 1) * lanes(), part);
}

// out[c] = sum over rows of x[r * pitch + c]; out does not alias x.
void sum_wide_columns(float* out, const float* x, int rows, ptrdiff_t pitch, int columns) {
  int c = 0;
  for (; columns - c >= 4 * lanes(); c += 4 * lanes()) {
    sum_column_vectors<false, 4>(out + c, x + c, rows, pitch, 4 * lanes());
  }
  for (; columns - c >= lanes(); c += lanes()) {
    sum_column_vectors<false, 1>(out + c, x + c, rows, pitch, lanes());
  }
  if (c < columns) sum_column_vectors<true, 1>(out + c, x + c, rows, pitch, columns - c);
}

// The same for contiguous rows. With few columns several rows are treated as one.
void sum_columns(float* out, const float* x, int rows, int columns) {
  constexpr int kWide = 64;
  const int together = columns >= kWide ? 1 : kWide / columns;
  if (together == 1 || rows < 2 * together) {
    sum_wide_columns(out, x, rows, columns, columns);
    return;
  }
  HWY_ALIGN float wide[kWide];
  const int width = together * columns;
  const int whole = rows / together;
  sum_wide_columns(wide, x, whole, width, width);
  for (int c = 0; c < columns; ++c) {
    float sum = 0.0F;
    for (int r = 0; r < together; ++r) sum += wide[r * columns + c];
    for (int r = whole * together; r < rows; ++r) sum += x[static_cast<ptrdiff_t>(r) * columns + c];
    out[c] = sum;
  }
}

// Rows [row, row + rows) of one [rows, columns] matrix in a tensor that ends at x_end.
void sum_block(float* out, const float* x, int rows, int columns, const float* x_end) {
  if (columns == 1) {
    *out = sum_run(x, rows, x_end);
  } else {
    sum_columns(out, x, rows, columns);
  }
}

void divide(float* y, int n, int divisor) {
  if (divisor == 1) return;
  for (int i = 0; i < n; ++i) y[i] /= static_cast<float>(divisor);
}

void sum_panels(float* y, const float* x, const SumPlan& plan, int divisor,
                parallel::ThreadPool& pool) {
  pool.run(static_cast<int64_t>(plan.outer) * plan.panels, [&](int64_t task) {
    const int64_t matrix = task / plan.panels;
    const int column = static_cast<int>(task % plan.panels) * kPanelColumns;
    const int columns = std::min(kPanelColumns, plan.columns - column);
    float* out = y + matrix * plan.columns + column;
    sum_wide_columns(out, x + matrix * plan.rows * plan.columns + column, plan.rows, plan.columns,
                     columns);
    divide(out, columns, divisor);
  });
}

void sum_blocks(float* y, const float* x, float* parts, const SumPlan& plan, int divisor,
                parallel::ThreadPool& pool) {
  const int64_t matrix_elements = static_cast<int64_t>(plan.rows) * plan.columns;
  pool.run(static_cast<int64_t>(plan.outer) * plan.row_blocks, [&](int64_t task) {
    const int row = static_cast<int>(task % plan.row_blocks) * plan.block_rows;
    const float* from = x + task / plan.row_blocks * matrix_elements;
    sum_block(parts + task * plan.columns, from + static_cast<int64_t>(row) * plan.columns,
              std::min(plan.block_rows, plan.rows - row), plan.columns,
              x + plan.outer * matrix_elements);
  });
  const float* const parts_end =
      parts + static_cast<int64_t>(plan.outer) * plan.row_blocks * plan.columns;
  for (int matrix = 0; matrix < plan.outer; ++matrix) {
    const int64_t first = static_cast<int64_t>(matrix) * plan.row_blocks * plan.columns;
    float* out = y + static_cast<int64_t>(matrix) * plan.columns;
    sum_block(out, parts + first, plan.row_blocks, plan.columns, parts_end);
    divide(out, plan.columns, divisor);
  }
}

void sum_matrices(float* y, const float* x, const SumPlan& plan, int divisor,
                  parallel::ThreadPool& pool) {
  const int64_t matrix_elements = static_cast<int64_t>(plan.rows) * plan.columns;
  const int64_t group = std::max<int64_t>(1, kSumTask / std::max<int64_t>(1, matrix_elements));
  pool.run(simd::divide_up(plan.outer, group), [&](int64_t task) {
    const int64_t end = std::min<int64_t>(plan.outer, (task + 1) * group);
    for (int64_t matrix = task * group; matrix < end; ++matrix) {
      float* out = y + matrix * plan.columns;
      sum_block(out, x + matrix * matrix_elements, plan.rows, plan.columns,
                x + plan.outer * matrix_elements);
      divide(out, plan.columns, divisor);
    }
  });
}

// Kept and reduced axes interleaved: computes as the reference does, with tasks of whole outputs.
void sum_interleaved(float* y, const float* x, const reduce_dims& d, parallel::ThreadPool& pool) {
  const int64_t group = std::max(1, kSumTask / std::max(1, d.reduced));
  const int inner = d.over.size[0];
  const ptrdiff_t stride = d.over.stride[0];
  const float* const x_end = x + static_cast<int64_t>(d.outputs) * d.reduced;
  pool.run(simd::divide_up(d.outputs, group), [&](int64_t task) {
    const int64_t end = std::min<int64_t>(d.outputs, (task + 1) * group);
    for (int64_t o = task * group; o < end; ++o) {
      const float* line = x + reduce_offset(static_cast<int>(o), &d.kept);
      float total = 0.0F;
      for (int r = 0; r < d.reduced; r += inner) {
        const float* from = line + reduce_offset(r, &d.over);
        if (stride == 1) {
          total += sum_run(from, inner, x_end);
          continue;
        }
        float part = 0.0F;
        for (int i = 0; i < inner; ++i) part += from[i * stride];
        total += part;
      }
      y[o] = total / static_cast<float>(d.divisor);
    }
  });
}

void sum_target(float* y, const float* x, float* parts, const reduce_dims& d,
                parallel::ThreadPool& pool) {
  const SumPlan plan = plan_sum(d);
  if (!plan.regular) {
    sum_interleaved(y, x, d, pool);
  } else if (plan.panels > 1) {
    sum_panels(y, x, plan, d.divisor, pool);
  } else if (plan.row_blocks > 1) {
    sum_blocks(y, x, parts, plan, d.divisor, pool);
  } else {
    sum_matrices(y, x, plan, d.divisor, pool);
  }
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops {
HWY_EXPORT(sum_target);

int64_t sum_workspace(const ir::Params& params, int /*threads*/) {
  const SumPlan plan = plan_sum(params.as<reduce_dims>());
  if (!plan.regular || plan.row_blocks == 1) return 0;
  return int64_t{4} * plan.outer * plan.row_blocks * plan.columns;
}

void sum_simd(float* y, const float* x, void* workspace, const reduce_dims* d,
              parallel::ThreadPool& pool) {
  if (d->outputs == 0) return;
  HWY_DYNAMIC_DISPATCH(sum_target)(y, x, static_cast<float*>(workspace), *d, pool);
}

}  // namespace thimble::ops
#endif
