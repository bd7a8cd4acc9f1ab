#include <hwy/highway.h>

#include "ops/adafactor_update/dims.h"
#include "ops/families/update/update-inl.h"
#include "parallel/thread_pool.h"

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::adafactor_update_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// Columns whose sums one task keeps on its stack.
constexpr int kColumnBlock = 512;

// Rows per task: about as many elements as a tile, independent of the number of threads.
int64_t rows_of_task(const adafactor_dims* d) {
  return std::max<int64_t>(1, kTileElements / std::max(d->columns, 1));
}
int64_t row_tasks(const adafactor_dims* d) {
  const int64_t rows = int64_t{d->matrices} * d->rows;
  return (rows + rows_of_task(d) - 1) / rows_of_task(d);
}

// Calls row(r) for each row of a task; rows are counted over all matrices.
template <class Row>
HWY_INLINE void over_rows(int64_t task, const adafactor_dims* d, const Row& row) {
  const int64_t begin = task * rows_of_task(d);
  const int64_t end = std::min(int64_t{d->matrices} * d->rows, begin + rows_of_task(d));
  for (int64_t r = begin; r < end; ++r) row(r);
}

// A gradient divided by the root of its second moment.
class AdafactorStep {
 public:
  explicit AdafactorStep(const adafactor_dims* d) : least_(set(d->epsilon1 * d->epsilon1)) {}
  [[nodiscard]] HWY_INLINE Vec operator()(Vec grad, Vec moment) const {
    return hn::Div(grad, hn::Sqrt(hn::Max(moment, least_)));
  }

 private:
  Vec least_;
};

void move_row_moments(float* row, const float* row_, const float* grad, float share,
                      const adafactor_dims* d, parallel::ThreadPool& pool) {
  pool.run(row_tasks(d), [=](int64_t task) {
    over_rows(task, d, [=](int64_t r) {
      const float* g = grad + r * d->columns;
      double squares[2];
      sum_vectors(0, d->columns, squares, [=](const auto& io, int64_t i, Vec(&sums)[2]) HWY_ATTR {
        const Vec v = io.load(g, i);
        sums[0] = hn::MulAdd(v, v, sums[0]);
      });
      row[r] = row_[r] + share * (static_cast<float>(squares[0] / d->columns) - row_[r]);
    });
  });
}

void move_column_moments(float* col, const float* col_, const float* grad, float share,
                         const adafactor_dims* d, parallel::ThreadPool& pool) {
  const int64_t blocks = (d->columns + kColumnBlock - 1) / kColumnBlock;
  pool.run(d->matrices * blocks, [=](int64_t task) {
    const int64_t m = task / blocks;
    const int64_t begin = task % blocks * kColumnBlock;
    const int64_t count = std::min<int64_t>(kColumnBlock, d->columns - begin);
    alignas(64) float sums[kColumnBlock] = {};
    for (int64_t r = m * d->rows; r < (m + 1) * d->rows; ++r) {
      const float* g = grad + r * d->columns + begin;
      float* const to = sums;
      over_vectors(0, count, [=](const auto& io, int64_t i) HWY_ATTR {
        const Vec v = io.load(g, i);
        io.store(hn::MulAdd(v, v, io.load(to, i)), to, i);
      });
    }
    for (int64_t c = 0; c < count; ++c) {
      const int64_t at = m * d->columns + begin + c;
      col[at] = col_[at] + share * (sums[c] / static_cast<float>(d->rows) - col_[at]);
    }
  });
}

// The factor of the moments of each matrix: 1 / their mean. scales: [matrices].
void find_scales(float* scales, const float* row, const adafactor_dims* d) {
  for (int m = 0; m < d->matrices; ++m) {
    float sum = 0.0F;
    for (int r = 0; r < d->rows; ++r) sum += row[m * d->rows + r];
    scales[m] = 1.0F / std::max(sum / static_cast<float>(d->rows), static_cast<float>(d->epsilon1));
  }
}

// The sum of squares of the step over rows of matrices. task_sums: [2 * row_tasks].
double matrix_step_squares(const float* grad, const float* row, const float* col,
                           const float* scales, double* task_sums, const adafactor_dims* d,
                           parallel::ThreadPool& pool) {
  const AdafactorStep step_of(d);
  pool.run(row_tasks(d), [=](int64_t task) {
    double total = 0.0;
    over_rows(task, d, [=, &total](int64_t r) {
      const float* g = grad + r * d->columns;
      const float* c = col + r / d->rows * d->columns;
      const Vec scaled = hn::Set(F32(), row[r] * scales[r / d->rows]);
      double squares[2];
      sum_vectors(0, d->columns, squares, [=](const auto& io, int64_t i, Vec(&sums)[2]) HWY_ATTR {
        const Vec u =
            io.present(step_of(io.load(g, i), hn::Mul(scaled, io.load(c, i))), hn::Zero(F32()));
        sums[0] = hn::MulAdd(u, u, sums[0]);
      });
      total += squares[0];
    });
    task_sums[task] = total;
  });
  double total = 0.0;
  for (int64_t task = 0; task < row_tasks(d); ++task) total += task_sums[task];
  return total;
}

void apply_matrices(float* out, const float* param, const float* grad, const float* row,
                    const float* col, const float* scales, double shrink_by, double rate_of,
                    const adafactor_dims* d, parallel::ThreadPool& pool) {
  const AdafactorStep step_of(d);
  const Vec shrink = set(shrink_by);
  const Vec rate = set(rate_of);
  pool.run(row_tasks(d), [=](int64_t task) {
    over_rows(task, d, [=](int64_t r) {
      const int64_t first = r * d->columns;
      const float* c = col + r / d->rows * d->columns;
      const Vec scaled = hn::Set(F32(), row[r] * scales[r / d->rows]);
      over_vectors(0, d->columns, [=](const auto& io, int64_t i) HWY_ATTR {
        const Vec u = step_of(io.load(grad + first, i), hn::Mul(scaled, io.load(c, i)));
        const Vec p = io.load(param + first, i);
        io.store(hn::MulSub(shrink, p, hn::Mul(rate, u)), out + first, i);
      });
    });
  });
}

// Vectors keep the whole second moment.
double vector_step_squares(float* variance, const float* variance_, const float* grad,
                           double share_of, double* tile_sums, const adafactor_dims* d,
                           parallel::ThreadPool& pool) {
  const AdafactorStep step_of(d);
  const Vec share = set(share_of);
  double squares[2];
  sum_elements(d->n, pool, tile_sums, squares,
               [=](const auto& io, int64_t i, Vec(&sums)[2]) HWY_ATTR {
                 const Vec g = io.load(grad, i);
                 const Vec v = moved(io.load(variance_, i), share, hn::Mul(g, g));
                 const Vec u = io.present(step_of(g, v), hn::Zero(F32()));
                 io.store(v, variance, i);
                 sums[0] = hn::MulAdd(u, u, sums[0]);
               });
  return squares[0];
}

void apply_vector(float* out, const float* param, const float* grad, const float* variance,
                  double shrink_by, double rate_of, const adafactor_dims* d,
                  parallel::ThreadPool& pool) {
  const AdafactorStep step_of(d);
  const Vec shrink = set(shrink_by);
  const Vec rate = set(rate_of);
  over_elements(d->n, pool, [=](const auto& io, int64_t i) HWY_ATTR {
    const Vec u = step_of(io.load(grad, i), io.load(variance, i));
    io.store(hn::MulSub(shrink, io.load(param, i), hn::Mul(rate, u)), out, i);
  });
}

// Scratch floats: sums of tasks or tiles, then one scale per matrix.
int64_t sum_count(const adafactor_dims* d) {
  return std::max(2 * element_tiles(d->n), row_tasks(d));
}

void adafactor_update_target(float* const* out, const float* param, const float* grad,
                             const float* lr, const int32_t* step, const float* first,
                             const float* second, double* sums, const adafactor_dims* d,
                             parallel::ThreadPool& pool) {
  if (d->n == 0) return;
  float* const scales = reinterpret_cast<float*>(sums + sum_count(d));
  double param_squares[2];
  sum_elements(d->n, pool, sums, param_squares,
               [=](const auto& io, int64_t i, Vec(&two)[2]) HWY_ATTR {
                 const Vec p = io.load(param, i);
                 two[0] = hn::MulAdd(p, p, two[0]);
               });
  const adafactor_factors factors =
      adafactor_factors_at(d, static_cast<double>(*lr), *step, param_squares[0]);
  const auto share = static_cast<float>(factors.share);
  const double sign = d->maximize != 0 ? -1.0 : 1.0;
  if (d->matrices == 0) {
    const double squares = vector_step_squares(out[1], first, grad, factors.share, sums, d, pool);
    apply_vector(out[0], param, grad, out[1], factors.shrink,
                 sign * adafactor_rate(d, factors.alpha, squares), d, pool);
    return;
  }
  move_row_moments(out[1], first, grad, share, d, pool);
  move_column_moments(out[2], second, grad, share, d, pool);
  find_scales(scales, out[1], d);
  const double squares = matrix_step_squares(grad, out[1], out[2], scales, sums, d, pool);
  apply_matrices(out[0], param, grad, out[1], out[2], scales, factors.shrink,
                 sign * adafactor_rate(d, factors.alpha, squares), d, pool);
}

int64_t workspace_bytes(const adafactor_dims* d) {
  return sum_count(d) * static_cast<int64_t>(sizeof(double)) +
         d->matrices * static_cast<int64_t>(sizeof(float));
}

}  // namespace thimble::ops::adafactor_update_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::adafactor_update_impl {
HWY_EXPORT(adafactor_update_target);

int64_t adafactor_update_workspace_bytes(const adafactor_dims& d) {
  return HWY_STATIC_DISPATCH(workspace_bytes)(&d);
}

void adafactor_update_simd(float* const* out, const float* param, const float* grad,
                           const float* lr, const int32_t* step, const float* first,
                           const float* second, void* workspace, const adafactor_dims* d,
                           parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(adafactor_update_target)
  (out, param, grad, lr, step, first, second, static_cast<double*>(workspace), d, pool);
}

}  // namespace thimble::ops::adafactor_update_impl
#endif
