/* Adam's rule for whole numbers. Plain C99: also emitted for devices. */
#include "ops/families/update/adam8_ref.h"
#include "ops/families/update/adam_ref.h"
#include "ops/families/update/integer_ref.h"

/* The rule for whole numbers (integer_ref.h), for the elements [first, last); first: of a chunk. */
static void adam_integer_part(void* const* out, const void* const* in, const adam_integer_dims* d,
                              const int32_t* indices, int first, int last, int has_residual) {
  const real* rate = (const real*)in[INTEGER_RATE];
  const int32_t* step = (const int32_t*)in[INTEGER_STEP];
  void* const* states = INTEGER_STATES(out, has_residual);
  adam_dims rule = d->rule;
  for (; first < last; first += INTEGER_CHUNK) {
    const int count = last - first < INTEGER_CHUNK ? last - first : INTEGER_CHUNK;
    real change[INTEGER_CHUNK];
    real grad[INTEGER_CHUNK];
    integer_begin(change, grad, in, &d->walk, indices, first, count);
    rule.n = count;
    if (rule.blocks > 0) {
      uint8_t* m = (uint8_t*)states[0] + first;
      uint8_t* v = (uint8_t*)states[1] + first;
      real* m_scale = (real*)states[2] + first / BLOCK_ELEMENTS;
      real* v_scale = (real*)states[3] + first / BLOCK_ELEMENTS;
      real* changed[5] = {change, (real*)(void*)m, (real*)(void*)v, m_scale, v_scale};
      rule.blocks = 1;
      adam8_ref(changed, change, grad, rate, step, m, v, m_scale, v_scale, &rule);
    } else {
      real* m = (real*)states[0] + first;
      real* v = (real*)states[1] + first;
      real* top = d->walk.states > 2 ? (real*)states[2] + first : NULL;
      real* changed[4] = {change, m, v, top};
      adam_ref(changed, change, grad, rate, step, m, v, top, &rule);
    }
    integer_end(out, in, change, &d->walk, indices, first, count, has_residual);
  }
}

/* out: {param [any shape], states}, in: {rng [6], param, grad [n], lr [1], step [1], units or NULL,
   states}. param: int8_t or int32_t, n of them are trained; states as the rule has them, of n
   elements. Each output is the memory of the input of that name. */
static void adam_rounded_update_ref(void* const* out, const void* const* in,
                                    const adam_integer_dims* d) {
  const int32_t* indices = (const int32_t*)(const void*)(d + 1);
  if (*(const int32_t*)in[INTEGER_STEP] == 0) return;
  adam_integer_part(out, in, d, indices, 0, d->walk.n, 0);
}

/* The same with a residual. out: {param, residual [n], states}, in: {residual, param, ...}. */
static void adam_residual_update_ref(void* const* out, const void* const* in,
                                     const adam_integer_dims* d) {
  const int32_t* indices = (const int32_t*)(const void*)(d + 1);
  if (*(const int32_t*)in[INTEGER_STEP] == 0) return;
  adam_integer_part(out, in, d, indices, 0, d->walk.n, 1);
}
