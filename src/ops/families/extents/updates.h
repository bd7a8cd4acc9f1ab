/* Extents of the optimizers' updates. Plain C99. */
#ifndef THIMBLE_OPS_FAMILIES_EXTENTS_UPDATES_H_
#define THIMBLE_OPS_FAMILIES_EXTENTS_UPDATES_H_

#include "ops/families/extents/extents.h"
#include "ops/families/update/adam_dims.h"
#include "ops/rmsprop_update/dims.h"
#include "ops/sgd_update/dims.h"

/* The inputs of a rule: parameter, gradient, learning rate, step, then `states` states, which are
   outputs behind the parameter. The last `optional` of these may be left out. */
static int update_extents(int n, int states, int optional, kernel_extents* e) {
  const int64_t bytes = extents_product(n, 1, 1, 1) * (int64_t)sizeof(float);
  e->out[0] = e->in[0] = e->in[1] = bytes;
  e->in[2] = (int64_t)sizeof(float);
  e->in[3] = (int64_t)sizeof(int32_t);
  e->paired = 1;
  for (int i = 0; i < states; ++i) {
    e->out[1 + i] = e->in[4 + i] = bytes;
    if (i < states - optional) continue;
    e->optional |= 1U << (4 + i);
    e->optional_out |= 1U << (1 + i);
  }
  return bytes > 0;
}

static int sgd_update_ref_extents(const void* params, kernel_extents* e) {
  const sgd_dims* d = (const sgd_dims*)params;
  return d->blocks == 0 && update_extents(d->n, 1, 1, e);
}

static int adam_ref_extents(const void* params, kernel_extents* e) {
  const adam_dims* d = (const adam_dims*)params;
  return d->blocks == 0 && update_extents(d->n, 3, 1, e);
}

/* Which states there are depends on the rule, and each of them is the next one. */
static int rmsprop_update_ref_extents(const void* params, kernel_extents* e) {
  const rmsprop_dims* d = (const rmsprop_dims*)params;
  const int states = 1 + (d->centered ? 1 : 0) + (d->momentum != 0 ? 1 : 0);
  return update_extents(d->n, states, 0, e);
}

#endif
