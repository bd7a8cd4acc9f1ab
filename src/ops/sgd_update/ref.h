#include "ops/families/update/block_codes.h"
#include "ops/families/update/integer_ref.h"
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
  if (!buffer && decay == 0) {
    const real by = d->maximize ? -rate : rate;
    real* const y = out[0];
    for (int i = 0; i < d->n; ++i) y[i] = param[i] - by * grad[i];
    return;
  }
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

/* The rule for whole numbers (integer_ref.h), for the elements [first, last); first: of a chunk. */
static void sgd_integer_part(void* const* out, const void* const* in, const sgd_integer_dims* d,
                             const int32_t* indices, int first, int last, int has_residual) {
  const real* rate = (const real*)in[INTEGER_RATE];
  const int32_t* step = (const int32_t*)in[INTEGER_STEP];
  void* const* states = INTEGER_STATES(out, has_residual);
  sgd_dims rule = d->rule;
  for (; first < last; first += INTEGER_CHUNK) {
    const int count = last - first < INTEGER_CHUNK ? last - first : INTEGER_CHUNK;
    real change[INTEGER_CHUNK];
    real grad[INTEGER_CHUNK];
    integer_begin(change, grad, in, &d->walk, indices, first, count);
    rule.n = count;
    if (rule.blocks > 0) {
      uint8_t* codes = (uint8_t*)states[0] + first;
      real* scale = (real*)states[1] + first / BLOCK_ELEMENTS;
      real* changed[3] = {change, (real*)(void*)codes, scale};
      rule.blocks = 1;
      sgd8_update_ref(changed, change, grad, rate, step, codes, scale, &rule);
    } else {
      real* buffer = d->walk.states > 0 ? (real*)states[0] + first : NULL;
      real* changed[2] = {change, buffer};
      sgd_update_ref(changed, change, grad, rate, step, buffer, &rule);
    }
    integer_end(out, in, change, &d->walk, indices, first, count, has_residual);
  }
}

/* out: {param [any shape], states}, in: {rng [6], param, grad [n], lr [1], step [1], units or NULL,
   states}. param: int8_t or int32_t, n of them are trained; states as the rule has them, of n
   elements. Each output is the memory of the input of that name. */
static void sgd_rounded_update_ref(void* const* out, const void* const* in,
                                   const sgd_integer_dims* d) {
  const int32_t* indices = (const int32_t*)(const void*)(d + 1);
  if (*(const int32_t*)in[INTEGER_STEP] == 0) return;
  sgd_integer_part(out, in, d, indices, 0, d->walk.n, 0);
}

/* The same with a residual. out: {param, residual [n], states}, in: {residual, param, ...}. */
static void sgd_residual_update_ref(void* const* out, const void* const* in,
                                    const sgd_integer_dims* d) {
  const int32_t* indices = (const int32_t*)(const void*)(d + 1);
  if (*(const int32_t*)in[INTEGER_STEP] == 0) return;
  sgd_integer_part(out, in, d, indices, 0, d->walk.n, 1);
}
