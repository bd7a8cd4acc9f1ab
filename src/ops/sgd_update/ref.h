#include "ops/families/update/block_codes.h"
#include "ops/sgd_update/dims.h"

/* Stochastic gradient descent. out: {param [n], momentum_buffer [n] if momentum}, each the memory
   of the input of that name or a copy of it; buffer: [n] or NULL; lr, step: [1]. The first step
   sets the buffer to the gradient, undamped. */
static void sgd_update_ref(real* const* out, const real* param, const real* grad, const real* lr,
                           const int32_t* step, const real* buffer, const sgd_dims* d) {
  const real rate = *lr;
  const real momentum = (real)d->momentum;
  const real share = (real)(1.0 - d->dampening);
  const real decay = (real)d->weight_decay;
  for (int i = 0; i < d->n; ++i) {
    real g = d->maximize ? -grad[i] : grad[i];
    if (decay != 0) g += decay * param[i];
    if (buffer) {
      const real b = *step == 1 ? g : momentum * buffer[i] + share * g;
      out[1][i] = b;
      g = d->nesterov ? g + momentum * b : b;
    }
    out[0][i] = param[i] - rate * g;
  }
}

/* Stochastic gradient descent with a momentum in codes (block_codes.h). out: {param [n], codes of
   momentum_buffer [n], their scales [blocks]}, each the memory of the input of that name or a copy
   of it; lr, step: [1]. The step itself is exact: only what is kept for the next one is rounded. */
static void sgd8_update_ref(real* const* out, const real* param, const real* grad, const real* lr,
                            const int32_t* step, const uint8_t* codes, const real* scale,
                            const sgd_dims* d) {
  const real rate = *lr;
  const real momentum = (real)d->momentum;
  const real share = (real)(1.0 - d->dampening);
  const real decay = (real)d->weight_decay;
  uint8_t* codes_out = (uint8_t*)out[1];
  block_book book;
  block_book_fill(&book, 1);
  for (int block = 0; block < d->blocks; ++block) {
    const int begin = block * BLOCK_ELEMENTS;
    const int count = d->n - begin < BLOCK_ELEMENTS ? d->n - begin : BLOCK_ELEMENTS;
    real buffer[BLOCK_ELEMENTS];
    real top = 0;
    for (int k = 0; k < count; ++k) {
      const int i = begin + k;
      const real before = scale[block] * (real)book.value[codes[i]];
      real g = d->maximize ? -grad[i] : grad[i];
      if (decay != 0) g += decay * param[i];
      buffer[k] = *step == 1 ? g : momentum * before + share * g;
      g = d->nesterov ? g + momentum * buffer[k] : buffer[k];
      top = (real)fmax(top, (real)fabs(buffer[k]));
      out[0][i] = param[i] - rate * g;
    }
    for (int k = 0; k < count; ++k) {
      const real part = top > 0 ? buffer[k] * (1 / top) : 0;
      codes_out[begin + k] = (uint8_t)block_encode(&book, (float)part, 1);
    }
    out[2][block] = top;
  }
}
