/* Sizes of ops on sequences of different lengths. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_PACKED_SEQUENCE_DIMS_H_
#define THIMBLE_OPS_PACKED_SEQUENCE_DIMS_H_

#include <stddef.h>
#include <stdint.h>

/* Sequences [batch, steps, width]. */
typedef struct sequence_dims {
  int batch;
  int steps;
  int width;
} sequence_dims;

/* The steps of a sequence that count. */
static inline int sequence_length(int32_t length, const sequence_dims* d) {
  return length < 0 ? 0 : length > d->steps ? d->steps : (int)length;
}

/* Defines <op>_ref, all sequences, from <op>_part, one of them. */
#define SEQUENCE_REF(op)                                                                         \
  static void op##_ref(real* y, const real* x, const int32_t* lengths, const sequence_dims* d) { \
    for (int n = 0; n < d->batch; ++n) op##_part(y, x, lengths, n, d);                           \
  }

#endif
