/* Sizes of to_16bit and from_16bit. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_STORAGE_16BIT_DIMS_H_
#define THIMBLE_OPS_STORAGE_16BIT_DIMS_H_

typedef struct bits16_dims {
  int n;        /* elements */
  int brain_16; /* bf16, else f16 */
} bits16_dims;

#endif
