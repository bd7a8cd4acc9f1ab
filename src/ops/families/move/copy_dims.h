/* Sizes of kernels that move elements of any type unchanged. Plain C99. */
#ifndef THIMBLE_OPS_COMMON_COPY_DIMS_H
#define THIMBLE_OPS_COMMON_COPY_DIMS_H

/* An element as such kernels see it: float32 tensors hold `real`, which is double in the gradient
   check; all others hold elements of `bytes` bytes. */
typedef struct {
  int is_real;
  int bytes;
} copy_element;

typedef struct {
  int n; /* elements; bytes of packed bits */
  copy_element element;
} copy_dims;

/* Bytes of one element, for use where `real` is defined. */
#define COPY_BYTES(element) ((element).is_real ? sizeof(real) : (size_t)(element).bytes)

#endif
