/* Functions of one int8 number, as tables of their 256 results. Plain C99: also emitted for
   devices. */
#ifndef THIMBLE_OPS_QUANTIZED_TABLE_DIMS_H_
#define THIMBLE_OPS_QUANTIZED_TABLE_DIMS_H_

#include "simd/requantize.h"

typedef struct quantized_table_dims {
  int n;
  int8_t results[256]; /* of -128, -127 ... */
  uint8_t inside[32];  /* a bit each: whether it lies within the bounds before it is clamped */
} quantized_table_dims;

/* y[i] = the result of x[i]. x, y: [n]; y may be x. */
static inline void quantized_look_up(int8_t* y, const int8_t* x, const quantized_table_dims* d) {
  for (int i = 0; i < d->n; ++i) y[i] = d->results[x[i] + 128];
}

/* The bits of x[0], x[1] ... bits: [n]. */
static inline void quantized_look_up_inside(uint8_t* bits, const int8_t* x,
                                            const quantized_table_dims* d) {
  for (int i = 0; i < d->n; ++i) {
    const int at = x[i] + 128;
    quantized_add_bit(bits, i, d->inside[at / 8] >> (at % 8) & 1);
  }
}

#endif
