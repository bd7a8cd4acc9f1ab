#include "ops/families/recurrent/recurrent_dims.h"

/* One plain recurrent layer over sequences: h = act(x + h_before w^T), act: tanh or relu. x, h:
   [batch, steps, units], h may be x; w: [units, units]; h0: [batch, units] or NULL for zeros. */
static void rnn_ref(real* h, const real* x, const real* w, const real* h0,
                    const recurrent_dims* d) {
  const int units = d->units;
  for (int n = 0; n < d->batch; ++n) {
    const real* before = h0 ? h0 + (ptrdiff_t)n * units : NULL;
    for (int done = 0; done < d->steps; ++done) {
      const ptrdiff_t at = ((ptrdiff_t)n * d->steps + recurrent_step(d, done)) * units;
      for (int j = 0; j < units; ++j) {
        real sum = x[at + j];
        for (int l = 0; before && l < units; ++l) sum += before[l] * w[(ptrdiff_t)j * units + l];
        h[at + j] = d->relu ? (sum < 0 ? 0 : sum) : tanh(sum);
      }
      before = h + at;
    }
  }
}

/* The gradients of rnn_ref. dx: [batch, steps, units], may be dh; dh0: [batch, units]. That of w
   follows from dx. */
static void rnn_grad_ref(real* dx, real* dh0, const real* dh, const real* h, const real* w,
                         const recurrent_dims* d) {
  const int units = d->units;
  for (int n = 0; n < d->batch; ++n) {
    real* carried = dh0 + (ptrdiff_t)n * units;
    for (int j = 0; j < units; ++j) carried[j] = 0;
    for (int done = d->steps - 1; done >= 0; --done) {
      const ptrdiff_t at = ((ptrdiff_t)n * d->steps + recurrent_step(d, done)) * units;
      for (int j = 0; j < units; ++j) {
        const real slope = d->relu ? (real)(h[at + j] > 0) : 1 - h[at + j] * h[at + j];
        dx[at + j] = (dh[at + j] + carried[j]) * slope;
      }
      for (int j = 0; j < units; ++j) {
        real sum = 0;
        for (int l = 0; l < units; ++l) sum += dx[at + l] * w[(ptrdiff_t)l * units + j];
        carried[j] = sum;
      }
    }
  }
}
