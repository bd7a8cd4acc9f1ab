#include <hwy/highway.h>

#include <cmath>

#include "ir/op_def.h"
#include "ops/families/kernel/rows-inl.h"
#include "ops/softmax_cross_entropy/dims.h"
#include "parallel/thread_pool.h"

#ifndef THIMBLE_OPS_SOFTMAX_CROSS_ENTROPY_ONCE_
#define THIMBLE_OPS_SOFTMAX_CROSS_ENTROPY_ONCE_
namespace thimble::ops::softmax_cross_entropy_impl {

inline const float* probabilities(const void* labels, const cross_entropy_dims& d, int64_t row) {
  return static_cast<const float*>(labels) + row * d.classes;
}

// The divisor of the sum over rows.
inline double divisor_of(const void* labels, const float* weight, const cross_entropy_dims& d) {
  if (d.weighted == 0) return d.divisor;
  double sum = 0.0;
  for (int row = 0; row < d.rows; ++row) {
    const int label = class_of(labels, row, &d);
    if (label == CLASS_IGNORED) continue;
    sum += weight != nullptr && label >= 0 ? weight[label] : 1.0F;
  }
  return sum;
}

}  // namespace thimble::ops::softmax_cross_entropy_impl
#endif

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::softmax_cross_entropy_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

// The largest score of a row and the sum of exp(x - largest).
struct RowLevel {
  float largest;
  float sum;
};

HWY_INLINE RowLevel row_level(const float* x, int n, const cross_entropy_dims& d) {
  if (d.normalized != 0) return {0.0F, 1.0F};
  const float largest = row_max(x, n);
  const Vec shift = hn::Set(F32(), largest);
  return {largest, row_sum(n, [&](auto io, int64_t i) HWY_ATTR {
            return exp_of_negative(hn::Sub(io.load(x, i), shift));
          })};
}

// Target weights of the classes of a row: `spike` at `label`, and the rest as vectors.
struct Targets {
  int label;          // -1: none
  float spike;        // extra weight of the label's class
  const float* t;     // probabilities, or null
  const float* each;  // weights of the classes, or null for 1
  float share;        // factor of the probabilities
  float spread;       // base weight of every class

  template <class Io>
  HWY_INLINE Vec operator()(const Io& io, int64_t i) const {
    const F32 f;
    Vec value = hn::Set(f, spread);
    if (t != nullptr) value = hn::MulAdd(hn::Set(f, share), io.load(t, i), value);
    return each != nullptr ? hn::Mul(value, io.load(each, i)) : value;
  }
  // Sum over the classes without the spike.
  [[nodiscard]] HWY_INLINE float sum(int n) const {
    if (t == nullptr && each == nullptr) return spread * static_cast<float>(n);
    const Targets self = *this;
    return row_sum(n, [self](auto io, int64_t i) HWY_ATTR { return self(io, i); });
  }
  // Whether any weight besides the spike is nonzero.
  [[nodiscard]] bool in_vectors() const { return t != nullptr || spread != 0.0F; }
};

HWY_INLINE Targets targets_of(const void* labels, const float* weight, const cross_entropy_dims& d,
                              int64_t row, int label) {
  const auto smoothing = static_cast<float>(d.smoothing);
  const float share = 1.0F - smoothing;
  const float spread = smoothing / static_cast<float>(d.classes);
  if (d.sparse == 0) return {-1, 0.0F, probabilities(labels, d, row), weight, share, spread};
  return {label, share * (weight != nullptr ? weight[label] : 1.0F), nullptr, weight, share,
          spread};
}

// losses: one per row.
void losses_target(float* losses, const float* x, const void* labels, const float* weight,
                   const cross_entropy_dims& d, parallel::ThreadPool& pool) {
  const int n = d.classes;
  over_rows(d.rows, n, pool, [&](int64_t row) HWY_ATTR {
    const int label = d.sparse != 0 ? class_of(labels, static_cast<int>(row), &d) : 0;
    if (label < 0) {
      losses[row] = label == CLASS_IGNORED ? 0.0F : NAN;
      return;
    }
    const float* from = x + row * n;
    const RowLevel level = row_level(from, n, d);
    const float log_sum = level.largest + std::log(level.sum);
    const Targets targets = targets_of(labels, weight, d, row, label);
    float loss = targets.label < 0 ? 0.0F : targets.spike * (log_sum - from[label]);
    if (targets.in_vectors()) {
      const Vec top = hn::Set(F32(), log_sum);
      loss += row_sum(n, [=](auto io, int64_t i) HWY_ATTR {
        return hn::Mul(targets(io, i), hn::Sub(top, io.load(from, i)));
      });
    }
    losses[row] = loss;
  });
}

void grad_target(float* dx, const float* dy, const float* x, const void* labels,
                 const float* weight, const cross_entropy_dims& d, parallel::ThreadPool& pool) {
  const F32 f;
  const int n = d.classes;
  const bool terms = d.divisor == LOSS_TERMS;
  const auto shared = terms ? 0.0F : static_cast<float>(*dy / divisor_of(labels, weight, d));
  over_rows(d.rows, n, pool, [&](int64_t row) HWY_ATTR {
    const float* from = x + row * n;
    float* to = dx + row * n;
    const float scale = terms ? dy[row] : shared;
    const Vec scales = hn::Set(f, scale);
    const int label = d.sparse != 0 ? class_of(labels, static_cast<int>(row), &d) : 0;
    if (label < 0) {
      std::fill(to, to + n, label == CLASS_IGNORED ? 0.0F : NAN);
      return;
    }
    const RowLevel level = row_level(from, n, d);
    const Vec shift = hn::Set(f, level.largest);
    const Targets targets = targets_of(labels, weight, d, row, label);
    if (d.normalized != 0) {
      over_vectors(0, n, [=](auto io, int64_t i) HWY_ATTR {
        io.store(hn::Neg(hn::Mul(scales, targets(io, i))), to, i);
      });
      if (targets.label >= 0) to[label] -= scale * targets.spike;
      return;
    }
    if (!targets.in_vectors()) {
      const Vec factor = hn::Set(f, scale * targets.spike / level.sum);
      over_vectors(0, n, [&](auto io, int64_t i) HWY_ATTR {
        const Vec share = exp_of_negative(hn::Sub(io.load(from, i), shift));
        io.store(hn::Mul(factor, share), to, i);
      });
    } else {
      const float sum = targets.spike + targets.sum(n);
      const Vec factor = hn::Set(f, sum / level.sum);
      over_vectors(0, n, [=](auto io, int64_t i) HWY_ATTR {
        const Vec share = exp_of_negative(hn::Sub(io.load(from, i), shift));
        io.store(hn::Mul(scales, hn::MulSub(factor, share, targets(io, i))), to, i);
      });
    }
    if (targets.label >= 0) to[label] -= scale * targets.spike;
  });
}

}  // namespace thimble::ops::softmax_cross_entropy_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::softmax_cross_entropy_impl {
HWY_EXPORT(losses_target);
HWY_EXPORT(grad_target);

int64_t softmax_cross_entropy_workspace(const ir::Params& params, int /*threads*/) {
  return int64_t{4} * params.as<cross_entropy_dims>().rows;
}

void softmax_cross_entropy_simd(float* y, const float* x, const void* labels, const float* weight,
                                void* workspace, const cross_entropy_dims* d,
                                parallel::ThreadPool& pool) {
  auto* const losses = d->divisor == LOSS_TERMS ? y : static_cast<float*>(workspace);
  HWY_DYNAMIC_DISPATCH(losses_target)(losses, x, labels, weight, *d, pool);
  if (d->divisor == LOSS_TERMS) return;
  double total = 0.0;
  for (int row = 0; row < d->rows; ++row) total += static_cast<double>(losses[row]);
  *y = static_cast<float>(total / divisor_of(labels, weight, *d));
}

void softmax_cross_entropy_grad_simd(float* dx, const float* dy, const float* x, const void* labels,
                                     const float* weight, const cross_entropy_dims* d,
                                     parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(grad_target)(dx, dy, x, labels, weight, *d, pool);
}

}  // namespace thimble::ops::softmax_cross_entropy_impl
#endif
