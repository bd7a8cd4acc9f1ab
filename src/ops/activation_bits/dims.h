/* Sizes and constants of activation_bits and grad_by_bits. Plain C99. */
#ifndef THIMBLE_OPS_ACTIVATION_BITS_DIMS_H_
#define THIMBLE_OPS_ACTIVATION_BITS_DIMS_H_

typedef struct {
  int n;    /* elements */
  int test; /* 0: above, 1: above_or_nan, 2: inside, 3: within, 4: outside */
  float low;
  float high;
} bits_dims;

typedef struct {
  int n;       /* elements */
  float slope; /* 0: no gradient where the bit is not set */
} grad_by_bits_dims;

#endif
