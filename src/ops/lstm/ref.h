#include "ops/families/recurrent/recurrent_dims.h"

static real lstm_sigmoid(real x) { return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)); }

/* One layer of LSTM over sequences: gates = act(x + h_before w^T), in the order input, forget,
   cell, output; c = forget c_before + input cell; h = output tanh(c). x, gates: [batch, steps, 4
   units], gates may be x; w: [4 units, units]; h0, c0: [batch, units] or NULL for zeros; h, c:
   [batch, steps, units]. */
static void lstm_ref(real* h, real* c, real* gates, const real* x, const real* w, const real* h0,
                     const real* c0, const recurrent_dims* d) {
  const int units = d->units;
  for (int n = 0; n < d->batch; ++n) {
    const real* h_before = h0 ? h0 + (ptrdiff_t)n * units : NULL;
    const real* c_before = c0 ? c0 + (ptrdiff_t)n * units : NULL;
    for (int done = 0; done < d->steps; ++done) {
      const ptrdiff_t at = ((ptrdiff_t)n * d->steps + recurrent_step(d, done)) * units;
      real* gate = gates + 4 * at;
      for (int j = 0; j < 4 * units; ++j) {
        real sum = x[4 * at + j];
        for (int l = 0; h_before && l < units; ++l)
          sum += h_before[l] * w[(ptrdiff_t)j * units + l];
        gate[j] = j / units == 2 ? tanh(sum) : lstm_sigmoid(sum);
      }
      for (int j = 0; j < units; ++j) {
        const real kept = c_before ? gate[units + j] * c_before[j] : 0;
        c[at + j] = kept + gate[j] * gate[2 * units + j];
        h[at + j] = gate[3 * units + j] * tanh(c[at + j]);
      }
      h_before = h + at;
      c_before = c + at;
    }
  }
}

/* The gradients of lstm_ref. dh, dc: [batch, steps, units] or NULL for zeros; dx:
   [batch, steps, 4 units], may be gates; dh0, dc0: [batch, units]; h_before: [batch, steps, units],
   the hidden state before each step, may be c; c0, h0: [batch, units] or NULL for zeros. That of w
   follows from dx and h_before. */
static void lstm_grad_ref(real* dx, real* dh0, real* dc0, real* h_before, const real* dh,
                          const real* dc, const real* gates, const real* c, const real* w,
                          const real* c0, const real* h0, const recurrent_dims* d) {
  const int units = d->units;
  for (int n = 0; n < d->batch; ++n) {
    real* dh_carried = dh0 + (ptrdiff_t)n * units;
    real* dc_carried = dc0 + (ptrdiff_t)n * units;
    for (int j = 0; j < units; ++j) dh_carried[j] = dc_carried[j] = 0;
    for (int done = d->steps - 1; done >= 0; --done) {
      const ptrdiff_t at = ((ptrdiff_t)n * d->steps + recurrent_step(d, done)) * units;
      const real* gate = gates + 4 * at;
      real* out = dx + 4 * at;
      /* Whoever takes c has read the cell of the step after this one by now. */
      real* h_now = NULL;
      if (done + 1 < d->steps)
        h_now = h_before + ((ptrdiff_t)n * d->steps + recurrent_step(d, done + 1)) * units;
      const real* c_before = c0 ? c0 + (ptrdiff_t)n * units : NULL;
      if (done > 0) c_before = c + ((ptrdiff_t)n * d->steps + recurrent_step(d, done - 1)) * units;
      for (int j = 0; j < units; ++j) {
        const real in = gate[j], forget = gate[units + j];
        const real cell = gate[2 * units + j], output = gate[3 * units + j];
        const real squashed = tanh(c[at + j]);
        if (h_now) h_now[j] = output * squashed;
        const real into_h = dh_carried[j] + (dh ? dh[at + j] : 0);
        const real into_c =
            dc_carried[j] + (dc ? dc[at + j] : 0) + into_h * output * (1 - squashed * squashed);
        out[j] = into_c * cell * in * (1 - in);
        out[units + j] = (c_before ? into_c * c_before[j] : 0) * forget * (1 - forget);
        out[2 * units + j] = into_c * in * (1 - cell * cell);
        out[3 * units + j] = into_h * squashed * output * (1 - output);
        dc_carried[j] = into_c * forget;
      }
      for (int j = 0; j < units; ++j) {
        real sum = 0;
        for (int l = 0; l < 4 * units; ++l) sum += out[l] * w[(ptrdiff_t)l * units + j];
        dh_carried[j] = sum;
      }
    }
    real* first = h_before + ((ptrdiff_t)n * d->steps + recurrent_step(d, 0)) * units;
    for (int j = 0; j < units; ++j) first[j] = h0 ? h0[(ptrdiff_t)n * units + j] : 0;
  }
}
