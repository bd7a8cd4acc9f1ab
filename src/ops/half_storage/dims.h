/* Sizes of to_half and from_half. Plain C99. */
#ifndef THIMBLE_OPS_HALF_STORAGE_DIMS_H_
#define THIMBLE_OPS_HALF_STORAGE_DIMS_H_

typedef struct {
  int n;        /* elements */
  int brain_16; /* bf16, else f16 */
} half_dims;

#endif
