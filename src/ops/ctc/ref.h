#include "ops/ctc/dims.h"

/* The logarithm of exp(a) + exp(b) + exp(c). */
static real ctc_add(real a, real b, real c) {
  const real top = a > b ? (a > c ? a : c) : (b > c ? b : c);
  return top + log(exp(a - top) + exp(b - top) + exp(c - top));
}

/* The logarithm of the sum of exp(x) over the classes. */
static real ctc_level(const real* x, int classes) {
  real top = x[0];
  for (int c = 1; c < classes; ++c) {
    if (x[c] > top) top = x[c];
  }
  real sum = 0;
  for (int c = 0; c < classes; ++c) sum += exp(x[c] - top);
  return top + log(sum);
}

/* The log probability of a state's class, bounded from below. */
static real ctc_emission(const real* x, real level, const ctc_sequence* q, int state,
                         const ctc_dims* d) {
  const real value = x[ctc_class(q, state, d)] - level;
  return value < (real)CTC_NEVER ? (real)CTC_NEVER : value;
}

/* The log probability of the whole target, from the last row of alpha. */
static real ctc_total(const real* alpha, const ctc_sequence* q, const ctc_dims* d) {
  if (!q->valid || q->steps == 0) return q->states == 1 ? 0 : (real)CTC_NEVER;
  const real* last = alpha + (ptrdiff_t)(q->steps - 1) * d->states;
  const real before = q->states > 1 ? last[q->states - 2] : (real)CTC_NEVER;
  return ctc_add(last[q->states - 1], before, (real)CTC_NEVER);
}

/* A sequence's share of the result. */
static real ctc_share(real total, const ctc_sequence* q, const ctc_dims* d) {
  if (!q->valid) return (real)NAN;
  if (CTC_IS_NEVER(total)) return d->zero_infinity ? 0 : (real)INFINITY;
  const int labels = q->states / 2;
  return -total / (real)(d->by_length && labels > 1 ? labels : 1);
}

/* alpha[t, s] = log probability of the first t + 1 steps ending in state s. x: [steps, classes];
   alpha: [steps, states]. */
static void ctc_alpha(real* alpha, const real* x, const ctc_sequence* q, const ctc_dims* d) {
  for (ptrdiff_t i = 0; i < (ptrdiff_t)d->steps * d->states; ++i) alpha[i] = (real)CTC_NEVER;
  for (int t = 0; q->valid && t < q->steps; ++t, x += d->classes, alpha += d->states) {
    const real level = ctc_level(x, d->classes);
    const real* before = alpha - d->states;
    for (int s = 0; s < q->states; ++s) {
      real way = s < 2 ? 0 : (real)CTC_NEVER;
      if (t > 0) {
        way = ctc_add(before[s], s > 0 ? before[s - 1] : (real)CTC_NEVER,
                      ctc_may_skip(q, s) ? before[s - 2] : (real)CTC_NEVER);
      }
      alpha[s] = way + ctc_emission(x, level, q, s, d);
    }
  }
}

/* y[0] = sum of the sequences' losses, / divisor, or y: [n], each. x: [n, steps, classes]; targets:
   [n, labels]; lengths: [n] or NULL; alpha: [n, steps, states]. */
static void ctc_ref(real* y, real* alpha, const real* x, const int32_t* targets,
                    const int32_t* input_lengths, const int32_t* target_lengths,
                    const ctc_dims* d) {
  real sum = 0;
  for (int n = 0; n < d->n; ++n) {
    const ctc_sequence q = ctc_sequence_of(n, targets, input_lengths, target_lengths, d);
    real* own = alpha + (ptrdiff_t)n * d->steps * d->states;
    ctc_alpha(own, x + (ptrdiff_t)n * d->steps * d->classes, &q, d);
    const real loss = ctc_share(ctc_total(own, &q, d), &q, d);
    if (d->divisor == LOSS_TERMS) y[n] = loss;
    sum += loss;
  }
  if (d->divisor != LOSS_TERMS) y[0] = sum / (real)d->divisor;
}

/* dx of one sequence = scale (softmax(x) - the probability of each class at each step given the
   target). beta: [states] of scratch, log probability of the steps after t from state s. */
static void ctc_grad_sequence(real* dx, real* beta, real scale, const real* x, const real* alpha,
                              const ctc_sequence* q, const ctc_dims* d) {
  const real total = q->valid ? ctc_total(alpha, q, d) : 0;
  const int never = !q->valid || CTC_IS_NEVER(total);
  const real nothing = q->valid && d->zero_infinity ? 0 : (real)NAN;
  for (int s = 0; s < d->states; ++s) {
    beta[s] = !never && s < q->states && s >= q->states - 2 ? 0 : (real)CTC_NEVER;
  }
  for (int t = d->steps - 1; t >= 0; --t) {
    real* out = dx + (ptrdiff_t)t * d->classes;
    const real* in = x + (ptrdiff_t)t * d->classes;
    if (never || t >= q->steps) {
      const real value = never && (t < q->steps || !q->valid) ? nothing : 0;
      for (int c = 0; c < d->classes; ++c) out[c] = value;
      continue;
    }
    const real level = ctc_level(in, d->classes);
    for (int c = 0; c < d->classes; ++c) out[c] = scale * exp(in[c] - level);
    for (int s = 0; s < q->states; ++s) {
      const real way = alpha[(ptrdiff_t)t * d->states + s] + beta[s] - total;
      out[ctc_class(q, s, d)] -= scale * exp(way);
    }
    if (t == 0) break;
    /* In place: each state looks at itself and those after it, whose own step is still counted. */
    for (int s = 0; s < q->states; ++s) beta[s] += ctc_emission(in, level, q, s, d);
    for (int s = 0; s < q->states; ++s) {
      beta[s] =
          ctc_add(beta[s], s + 1 < q->states ? beta[s + 1] : (real)CTC_NEVER,
                  s + 2 < q->states && ctc_may_skip(q, s + 2) ? beta[s + 2] : (real)CTC_NEVER);
    }
  }
}

/* What a sequence's gradient is multiplied by. */
static real ctc_scale(const real* dy, int n, const ctc_sequence* q, const ctc_dims* d) {
  const int labels = q->states / 2;
  return LOSS_SCALE(dy, n, d) / (real)(d->by_length && labels > 1 ? labels : 1);
}

/* dx: [n, steps, classes]; beta: [n, states], scratch. */
static void ctc_grad_ref(real* dx, real* beta, const real* dy, const real* x, const real* alpha,
                         const int32_t* targets, const int32_t* input_lengths,
                         const int32_t* target_lengths, const ctc_dims* d) {
  for (int n = 0; n < d->n; ++n) {
    const ctc_sequence q = ctc_sequence_of(n, targets, input_lengths, target_lengths, d);
    const ptrdiff_t at = (ptrdiff_t)n * d->steps;
    ctc_grad_sequence(dx + at * d->classes, beta + (ptrdiff_t)n * d->states,
                      ctc_scale(dy, n, &q, d), x + at * d->classes, alpha + at * d->states, &q, d);
  }
}
