#include "ops/families/recurrent/recurrent_dims.h"

static real gru_sigmoid(real x) { return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)); }

/* One layer of GRU over sequences. With u = h_before w^T + b, in the order reset, update, new:
   reset = sigmoid(x_r + u_r), update = sigmoid(x_u + u_u), fresh = tanh(x_n + reset u_n),
   h = (1 - update) fresh + update h_before. gates holds reset, update and fresh, inner holds u_n.
   x, gates: [batch, steps, 3 units], gates may be x; w: [3 units, units]; b: [3 units] or NULL;
   h0: [batch, units] or NULL for zeros; h, inner: [batch, steps, units]. */
static void gru_ref(real* h, real* gates, real* inner, const real* x, const real* w, const real* b,
                    const real* h0, const recurrent_dims* d) {
  const int units = d->units;
  for (int n = 0; n < d->batch; ++n) {
    const real* before = h0 ? h0 + (ptrdiff_t)n * units : NULL;
    for (int done = 0; done < d->steps; ++done) {
      const ptrdiff_t at = ((ptrdiff_t)n * d->steps + recurrent_step(d, done)) * units;
      real* gate = gates + 3 * at;
      for (int j = 0; j < 3 * units; ++j) {
        real sum = b ? b[j] : 0;
        for (int l = 0; before && l < units; ++l) sum += before[l] * w[(ptrdiff_t)j * units + l];
        if (j < 2 * units) {
          gate[j] = gru_sigmoid(x[3 * at + j] + sum);
        } else {
          inner[at + j - 2 * units] = sum;
          gate[j] = tanh(x[3 * at + j] + gate[j - 2 * units] * sum);
        }
      }
      for (int j = 0; j < units; ++j) {
        const real update = gate[units + j];
        h[at + j] = (1 - update) * gate[2 * units + j] + (before ? update * before[j] : 0);
      }
      before = h + at;
    }
  }
}

/* The gradients of gru_ref: dx of x and du of u, [batch, steps, 3 units], and dh0, [batch, units].
   dx may be gates. Those of w and b follow from du. */
static void gru_grad_ref(real* dx, real* du, real* dh0, const real* dh, const real* h,
                         const real* gates, const real* inner, const real* w, const real* h0,
                         const recurrent_dims* d) {
  const int units = d->units;
  for (int n = 0; n < d->batch; ++n) {
    real* carried = dh0 + (ptrdiff_t)n * units;
    for (int j = 0; j < units; ++j) carried[j] = 0;
    for (int done = d->steps - 1; done >= 0; --done) {
      const ptrdiff_t at = ((ptrdiff_t)n * d->steps + recurrent_step(d, done)) * units;
      const real* gate = gates + 3 * at;
      real* to_x = dx + 3 * at;
      real* to_u = du + 3 * at;
      const real* before = h0 ? h0 + (ptrdiff_t)n * units : NULL;
      if (done > 0) before = h + ((ptrdiff_t)n * d->steps + recurrent_step(d, done - 1)) * units;
      for (int j = 0; j < units; ++j) {
        const real reset = gate[j], update = gate[units + j], fresh = gate[2 * units + j];
        const real into_h = carried[j] + dh[at + j];
        const real into_new = into_h * (1 - update) * (1 - fresh * fresh);
        const real kept = before ? before[j] : 0;
        to_x[j] = to_u[j] = into_new * inner[at + j] * reset * (1 - reset);
        to_x[units + j] = to_u[units + j] = into_h * (kept - fresh) * update * (1 - update);
        to_x[2 * units + j] = into_new;
        to_u[2 * units + j] = into_new * reset;
        carried[j] = into_h * update;
      }
      for (int j = 0; j < units; ++j) {
        for (int l = 0; l < 3 * units; ++l) carried[j] += to_u[l] * w[(ptrdiff_t)l * units + j];
      }
    }
  }
}
