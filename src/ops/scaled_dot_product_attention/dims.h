/* Sizes of attention. Plain C99. */
#ifndef THIMBLE_OPS_ATTENTION_DIMS_H_
#define THIMBLE_OPS_ATTENTION_DIMS_H_

#include <stddef.h>

#include "simd/philox.h"

/* q, y: [batch, queries, heads, width or value_width]; k, v: [batch, keys, groups, ...];
   lse: [batch, heads, queries]. */
typedef struct attention_dims {
  int batch, queries, keys, heads, groups;
  int width;       /* of a query and a key */
  int value_width; /* of a value */
  int causal;      /* 1: query t sees the keys 0 to t */
  double scale;
  int mask_bytes;   /* 0: no mask; 1: u8, where 0 hides; else values to add */
  int mask_step[4]; /* elements to the next batch, head, query, key; 0: all share one */
  uint32_t stream;
  double limit; /* a weight is dropped where its word's upper 24 bits are below */
  double keep;  /* factor of those that stay */
} attention_dims;

/* The number of the random block of the weights of key s for the queries t to t + 3. */
static inline uint32_t attention_block(const attention_dims* d, int n, int h, int t, int s) {
  const uint32_t row =
      ((uint32_t)n * (uint32_t)d->heads + (uint32_t)h) * (uint32_t)d->keys + (uint32_t)s;
  return row * (((uint32_t)d->queries + 3) / 4) + (uint32_t)t / 4;
}

#endif
