/* Sizes of quantized_sum_grad. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_QUANTIZED_SUM_GRAD_DIMS_H_
#define THIMBLE_OPS_QUANTIZED_SUM_GRAD_DIMS_H_

typedef struct quantized_sum_grad_dims {
  int rows;
  int channels;
} quantized_sum_grad_dims;

/* Rows whose numbers are added before their sum is, as sum_to does. */
#define QUANTIZED_SUM_GRAD_BLOCK 128

#endif
