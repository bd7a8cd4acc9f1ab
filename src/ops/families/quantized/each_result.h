/* Walks over the results of a quantized convolution. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_COMMON_EACH_RESULT_H_
#define THIMBLE_OPS_COMMON_EACH_RESULT_H_

/* Runs a statement for image n, row p, column q and channel k of every result, in the order of
   memory. d: conv_dims. */
#define QUANTIZED_FOR_EACH_RESULT(d, statement) \
  for (int n = 0; n < (d)->n; ++n) {            \
    for (int p = 0; p < (d)->p; ++p) {          \
      for (int q = 0; q < (d)->q; ++q) {        \
        for (int k = 0; k < (d)->k; ++k) {      \
          statement;                            \
        }                                       \
      }                                         \
    }                                           \
  }

#endif
