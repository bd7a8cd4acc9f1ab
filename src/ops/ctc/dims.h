/* Sizes of ctc. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_CTC_DIMS_H_
#define THIMBLE_OPS_CTC_DIMS_H_

#include <stddef.h>
#include <stdint.h>

#include "ops/families/loss/loss_dims.h"

typedef struct ctc_dims {
  int n;
  int steps; /* T */
  int classes;
  int labels; /* S */
  int states; /* 2 S + 1: the target with blanks between, before and after */
  int blank;
  int zero_infinity;
  int by_length; /* 1: each loss is divided by its target's length */
  int divisor;   /* what their sum is divided by, or LOSS_TERMS */
} ctc_dims;

/* Stands for log(0), and the bound below which a logarithm counts as such: sums stay finite. */
#define CTC_NEVER (-1e30)
#define CTC_IS_NEVER(log_probability) ((log_probability) < -1e29)

/* One sequence: its lengths, and whether they and its labels are in range. */
typedef struct ctc_sequence {
  const int32_t* target;
  int steps;
  int states;
  int valid;
} ctc_sequence;

static inline ctc_sequence ctc_sequence_of(int n, const int32_t* targets,
                                           const int32_t* input_lengths,
                                           const int32_t* target_lengths, const ctc_dims* d) {
  ctc_sequence q;
  const int labels = target_lengths ? target_lengths[n] : d->labels;
  q.target = targets + (ptrdiff_t)n * d->labels;
  q.steps = input_lengths ? input_lengths[n] : d->steps;
  q.valid = q.steps >= 0 && q.steps <= d->steps && labels >= 0 && labels <= d->labels;
  for (int i = 0; q.valid && i < labels; ++i) {
    q.valid = q.target[i] >= 0 && q.target[i] < d->classes;
  }
  q.states = q.valid ? 2 * labels + 1 : 1;
  return q;
}

/* The class of a state, and whether the blank before it may be left out. */
static inline int ctc_class(const ctc_sequence* q, int state, const ctc_dims* d) {
  return state % 2 == 0 ? d->blank : q->target[state / 2];
}
static inline int ctc_may_skip(const ctc_sequence* q, int state) {
  return state % 2 == 1 && state >= 3 && q->target[state / 2] != q->target[state / 2 - 1];
}

#endif
