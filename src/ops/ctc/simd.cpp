#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "ir/op_def.h"
#include "ops/ctc/dims.h"
#include "ops/families/kernel/rows-inl.h"
#include "parallel/thread_pool.h"
#include "simd/workspace.h"

#ifndef THIMBLE_OPS_CTC_ONCE_
#define THIMBLE_OPS_CTC_ONCE_
namespace thimble::ops::ctc_impl {

// Padding on both sides of a row of states, with impossible states, so that neighbours can be read
// without checks.
inline constexpr int kCtcMargin = 16;
inline constexpr float kNever = static_cast<float>(CTC_NEVER);

struct CtcScratch {
  float* row;       // states of the previous or next step, between margins
  float* emission;  // [states]
  float* skip;      // [states and 2]: 0 where the preceding blank may be skipped, else impossible
};

inline int64_t ctc_row(const ctc_dims& d) {
  return simd::round_up(int64_t{d.states} + 2 * kCtcMargin, 16);
}

inline CtcScratch carve_ctc(simd::Workspace& pieces, float** losses, const ctc_dims& d,
                            int threads) {
  CtcScratch s{};
  s.row = pieces.take<float>(ctc_row(d) * threads);
  s.emission = pieces.take<float>(ctc_row(d) * threads);
  s.skip = pieces.take<float>(ctc_row(d) * threads);
  *losses = pieces.take<float>(d.n);
  return s;
}

inline CtcScratch ctc_scratch_of(const CtcScratch& first, int worker, const ctc_sequence& q,
                                 const ctc_dims& d) {
  const int64_t by = worker * ctc_row(d);
  CtcScratch s{first.row + by, first.emission + by, first.skip + by};
  std::fill(s.row, s.row + ctc_row(d), kNever);
  std::fill(s.skip, s.skip + ctc_row(d), kNever);
  for (int state = 0; state < q.states; ++state) {
    if (ctc_may_skip(&q, state)) s.skip[state] = 0.0F;
  }
  s.row += kCtcMargin;
  return s;
}

// The divisor of a sequence's loss, in addition to that of the batch.
inline float ctc_length(const ctc_sequence& q, const ctc_dims& d) {
  const int labels = q.states / 2;
  return static_cast<float>(d.by_length != 0 && labels > 1 ? labels : 1);
}

// Log probability of the target from the last row of alpha.
inline float ctc_total(const float* alpha, const ctc_sequence& q, const ctc_dims& d) {
  if (q.steps == 0) return q.states == 1 ? 0.0F : kNever;
  const float* last = alpha + int64_t{q.steps - 1} * d.states;
  const float a = last[q.states - 1];
  const float b = q.states > 1 ? last[q.states - 2] : kNever;
  const float top = std::max(a, b);
  return top + std::log(std::exp(a - top) + std::exp(b - top));
}

// The log probabilities of the states' classes.
inline void ctc_emissions(float* emission, const float* x, float level, const ctc_sequence& q,
                          const ctc_dims& d) {
  const float blank = std::max(x[d.blank] - level, kNever);
  for (int s = 0; s < q.states; s += 2) emission[s] = blank;
  for (int s = 1; s < q.states; s += 2) {
    emission[s] = std::max(x[q.target[s / 2]] - level, kNever);
  }
}

}  // namespace thimble::ops::ctc_impl
#endif

HWY_BEFORE_NAMESPACE();
namespace thimble::ops::ctc_impl::HWY_NAMESPACE {
using namespace ops::HWY_NAMESPACE;

HWY_INLINE float ctc_level(const float* x, int classes) {
  const float top = row_max(x, classes);
  const Vec shift = hn::Set(F32(), top);
  return top + std::log(row_sum(classes, [&](auto io, int64_t i) HWY_ATTR {
           return exp_of_negative(hn::Sub(io.load(x, i), shift));
         }));
}

// log(exp(a) + exp(b) + exp(c)).
HWY_INLINE Vec add_in_logs(Vec a, Vec b, Vec c) {
  const F32 f;
  const Vec top = hn::Max(hn::Max(a, b), c);
  const Vec sum = hn::Add(hn::Add(hn::Exp(f, hn::Sub(a, top)), hn::Exp(f, hn::Sub(b, top))),
                          hn::Exp(f, hn::Sub(c, top)));
  return hn::Add(top, hn::Log(f, sum));
}

void ctc_alpha_target(float* alpha, const float* x, const ctc_sequence& q, const CtcScratch& s,
                      const ctc_dims& d) {
  for (int t = 0; t < q.steps; ++t, x += d.classes, alpha += d.states) {
    ctc_emissions(s.emission, x, ctc_level(x, d.classes), q, d);
    if (t == 0) {
      for (int state = 0; state < std::min(2, q.states); ++state) alpha[state] = s.emission[state];
    } else {
      const float* row = s.row;
      const float* emission = s.emission;
      const float* skip = s.skip;
      over_vectors(0, q.states, [=](auto io, int64_t i) HWY_ATTR {
        const Vec over = hn::Add(io.load(row, i - 2), io.load(skip, i));
        const Vec ways = add_in_logs(io.load(row, i), io.load(row, i - 1), over);
        io.store(hn::Add(ways, io.load(emission, i)), alpha, i);
      });
    }
    std::copy(alpha, alpha + q.states, s.row);
  }
}

void ctc_target(float* y, float* alpha, const float* x, const int32_t* targets,
                const int32_t* input_lengths, const int32_t* target_lengths, void* workspace,
                const ctc_dims& d, parallel::ThreadPool& pool) {
  simd::Workspace pieces(workspace);
  float* losses = nullptr;
  const CtcScratch scratch = carve_ctc(pieces, &losses, d, pool.threads());
  pool.run_with_worker(d.n, [&](int64_t n, int worker) {
    const ctc_sequence q =
        ctc_sequence_of(static_cast<int>(n), targets, input_lengths, target_lengths, &d);
    float* const own = alpha + n * d.steps * d.states;
    std::fill(own, own + int64_t{d.steps} * d.states, kNever);
    if (!q.valid) {
      losses[n] = NAN;
      return;
    }
    ctc_alpha_target(own, x + n * d.steps * d.classes, q, ctc_scratch_of(scratch, worker, q, d), d);
    const float total = ctc_total(own, q, d);
    losses[n] =
        CTC_IS_NEVER(total) ? (d.zero_infinity != 0 ? 0.0F : INFINITY) : -total / ctc_length(q, d);
  });
  if (d.divisor == LOSS_TERMS) {
    std::copy(losses, losses + d.n, y);
    return;
  }
  double sum = 0.0;
  for (int n = 0; n < d.n; ++n) sum += static_cast<double>(losses[n]);
  *y = static_cast<float>(sum / d.divisor);
}

// dx of one step; beta is that of the step.
void ctc_step_grad(float* dx, const float* x, float level, const float* alpha, const float* beta,
                   float* ways, float total, float scale, const ctc_sequence& q,
                   const ctc_dims& d) {
  const F32 f;
  const Vec shift = hn::Set(f, level);
  const Vec factor = hn::Set(f, scale);
  over_vectors(0, d.classes, [=](auto io, int64_t i) HWY_ATTR {
    io.store(hn::Mul(factor, hn::Exp(f, hn::Sub(io.load(x, i), shift))), dx, i);
  });
  const Vec whole = hn::Set(f, total);
  over_vectors(0, q.states, [=](auto io, int64_t i) HWY_ATTR {
    const Vec way = hn::Sub(hn::Add(io.load(alpha, i), io.load(beta, i)), whole);
    io.store(hn::Mul(factor, hn::Exp(f, way)), ways, i);
  });
  for (int s = 0; s < q.states; s += 2) dx[d.blank] -= ways[s];
  for (int s = 1; s < q.states; s += 2) dx[q.target[s / 2]] -= ways[s];
}

void ctc_grad_sequence_target(float* dx, float* beta, float scale, const float* x,
                              const float* alpha, const ctc_sequence& q, const CtcScratch& s,
                              const ctc_dims& d) {
  const float total = ctc_total(alpha, q, d);
  float* const after = dx + int64_t{q.steps} * d.classes;
  std::fill(after, dx + int64_t{d.steps} * d.classes, 0.0F);
  if (CTC_IS_NEVER(total)) {
    std::fill(dx, after, d.zero_infinity != 0 ? 0.0F : NAN);
    return;
  }
  beta[q.states - 1] = 0.0F;
  if (q.states > 1) beta[q.states - 2] = 0.0F;
  for (int t = q.steps - 1; t >= 0; --t) {
    const float* in = x + int64_t{t} * d.classes;
    const float level = ctc_level(in, d.classes);
    ctc_step_grad(dx + int64_t{t} * d.classes, in, level, alpha + int64_t{t} * d.states, beta,
                  s.emission, total, scale, q, d);
    if (t == 0) break;
    ctc_emissions(s.emission, in, level, q, d);
    float* const row = s.row;
    const float* emission = s.emission;
    const float* skip = s.skip;
    over_vectors(0, q.states, [=](auto io, int64_t i) HWY_ATTR {
      io.store(hn::Add(io.load(beta, i), io.load(emission, i)), row, i);
    });
    over_vectors(0, q.states, [=](auto io, int64_t i) HWY_ATTR {
      const Vec over = hn::Add(io.load(row, i + 2), io.load(skip, i + 2));
      io.store(add_in_logs(io.load(row, i), io.load(row, i + 1), over), beta, i);
    });
  }
}

void ctc_grad_target(float* dx, float* beta, const float* dy, const float* x, const float* alpha,
                     const int32_t* targets, const int32_t* input_lengths,
                     const int32_t* target_lengths, void* workspace, const ctc_dims& d,
                     parallel::ThreadPool& pool) {
  simd::Workspace pieces(workspace);
  float* losses = nullptr;
  const CtcScratch scratch = carve_ctc(pieces, &losses, d, pool.threads());
  pool.run_with_worker(d.n, [&](int64_t n, int worker) {
    const ctc_sequence q =
        ctc_sequence_of(static_cast<int>(n), targets, input_lengths, target_lengths, &d);
    const int64_t at = n * d.steps;
    float* const own = beta + n * d.states;
    std::fill(own, own + d.states, kNever);
    if (!q.valid) {
      std::fill(dx + at * d.classes, dx + (at + d.steps) * d.classes, NAN);
      return;
    }
    const float share = d.divisor == LOSS_TERMS ? dy[n] : *dy / static_cast<float>(d.divisor);
    const float scale = share / ctc_length(q, d);
    ctc_grad_sequence_target(dx + at * d.classes, own, scale, x + at * d.classes,
                             alpha + at * d.states, q, ctc_scratch_of(scratch, worker, q, d), d);
  });
}

}  // namespace thimble::ops::ctc_impl::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace thimble::ops::ctc_impl {
HWY_EXPORT(ctc_target);
HWY_EXPORT(ctc_grad_target);

int64_t ctc_workspace(const ir::Params& params, int threads) {
  simd::Workspace counter(nullptr);
  float* losses = nullptr;
  carve_ctc(counter, &losses, params.as<ctc_dims>(), threads);
  return counter.bytes();
}

void ctc_simd(float* y, float* alpha, const float* x, const int32_t* targets,
              const int32_t* input_lengths, const int32_t* target_lengths, void* workspace,
              const ctc_dims* d, parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(ctc_target)
  (y, alpha, x, targets, input_lengths, target_lengths, workspace, *d, pool);
}

void ctc_grad_simd(float* dx, float* beta, const float* dy, const float* x, const float* alpha,
                   const int32_t* targets, const int32_t* input_lengths,
                   const int32_t* target_lengths, void* workspace, const ctc_dims* d,
                   parallel::ThreadPool& pool) {
  HWY_DYNAMIC_DISPATCH(ctc_grad_target)
  (dx, beta, dy, x, alpha, targets, input_lengths, target_lengths, workspace, *d, pool);
}

}  // namespace thimble::ops::ctc_impl
#endif
