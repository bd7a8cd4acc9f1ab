#include "ops/softmax_cross_entropy/simd.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/softmax_cross_entropy/simd.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "ops/common/rows-inl.h"

#ifndef THIMBLE_OPS_SOFTMAX_CROSS_ENTROPY_ONCE_
#define THIMBLE_OPS_SOFTMAX_CROSS_ENTROPY_ONCE_
namespace thimble::ops {

// Class index of a row, or -1.
inline int known_label(const void* labels, const class_dims& d, int64_t row) {
  const int32_t label = static_cast<const int32_t*>(labels)[row];
  return label >= 0 && label < d.classes ? label : -1;
}

inline const float* probabilities(const void* labels, const class_dims& d, int64_t row) {
  return static_cast<const float*>(labels) + row * d.classes;
}

}  // namespace thimble::ops
#endif

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::HWY_NAMESPACE {

// The largest score of a row and the sum of exp(x - largest).
struct RowLevel {
  float largest;
  float sum;
};

HWY_INLINE RowLevel row_level(const float* x, int n) {
  const float largest = row_max(x, n);
  const Vec shift = hn::Set(F32(), largest);
  return {largest, row_sum(n, [&](auto io, int64_t i) HWY_ATTR {
            return exp_of_negative(hn::Sub(io.load(x, i), shift));
          })};
}

// losses: one a row.
void losses_target(float* losses, const float* x, const void* labels, const class_dims& d,
                   exec::ThreadPool& pool) {
  const int n = d.classes;
  over_rows(d.rows, n, pool, [&](int64_t row) HWY_ATTR {
    const float* from = x + row * n;
    const RowLevel level = row_level(from, n);
    const float log_sum = level.largest + std::log(level.sum);
    if (d.sparse != 0) {
      const int label = known_label(labels, d, row);
      losses[row] = label < 0 ? NAN : log_sum - from[label];
      return;
    }
    const float* t = probabilities(labels, d, row);
    const Vec top = hn::Set(F32(), log_sum);
    losses[row] = row_sum(n, [&](auto io, int64_t i) HWY_ATTR {
      return hn::Mul(io.load(t, i), hn::Sub(top, io.load(from, i)));
    });
  });
}

void grad_target(float* dx, const float* dy, const float* x, const void* labels,
                 const class_dims& d, exec::ThreadPool& pool) {
  const F32 f;
  const int n = d.classes;
  const float scale = *dy / static_cast<float>(d.divisor);
  const Vec scales = hn::Set(f, scale);
  over_rows(d.rows, n, pool, [&](int64_t row) HWY_ATTR {
    const float* from = x + row * n;
    float* to = dx + row * n;
    const RowLevel level = row_level(from, n);
    const Vec shift = hn::Set(f, level.largest);
    if (d.sparse != 0) {
      const int label = known_label(labels, d, row);
      const Vec factor = hn::Set(f, label < 0 ? NAN : scale / level.sum);
      over_vectors(0, n, [&](auto io, int64_t i) HWY_ATTR {
        const Vec share = exp_of_negative(hn::Sub(io.load(from, i), shift));
        io.store(hn::Mul(factor, share), to, i);
      });
      if (label >= 0) to[label] -= scale;
      return;
    }
    const float* t = probabilities(labels, d, row);
    const float weight = row_sum(n, [&](auto io, int64_t i) HWY_ATTR { return io.load(t, i); });
    const Vec factor = hn::Set(f, weight / level.sum);
    over_vectors(0, n, [&](auto io, int64_t i) HWY_ATTR {
      const Vec share = exp_of_negative(hn::Sub(io.load(from, i), shift));
      io.store(hn::Mul(scales, hn::MulSub(factor, share, io.load(t, i))), to, i);
    });
  });
}

}  // namespace thimble::ops::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops {
HWY_EXPORT(losses_target);
HWY_EXPORT(grad_target);

int64_t softmax_cross_entropy_workspace(const ir::Params& params, int /*threads*/) {
  return int64_t{4} * params.as<class_dims>().rows;
}

void softmax_cross_entropy_simd(float* y, const float* x, const void* labels, void* workspace,
                                const class_dims* d, exec::ThreadPool& pool) {
  auto* const losses = static_cast<float*>(workspace);
  HWY_DYNAMIC_DISPATCH(losses_target)(losses, x, labels, *d, pool);
  double total = 0.0;
  for (int row = 0; row < d->rows; ++row) total += static_cast<double>(losses[row]);
  *y = static_cast<float>(total / d->divisor);
}

void softmax_cross_entropy_grad_simd(float* dx, const float* dy, const float* x, const void* labels,
                                     const class_dims* d, exec::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(grad_target)(dx, dy, x, labels, *d, pool);
}

}  // namespace thimble::ops
#endif
