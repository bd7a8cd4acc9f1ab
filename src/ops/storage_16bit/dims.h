/* Sizes of to_16bit and from_16bit. Plain C99. */
#ifndef THIMBLE_OPS_STORAGE_16BIT_DIMS_H_
#define THIMBLE_OPS_STORAGE_16BIT_DIMS_H_

typedef struct {
  int n;        /* elements */
  int brain_16; /* bf16, else f16 */
} bits16_dims;

#endif
