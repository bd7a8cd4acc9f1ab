/* What a kernel may do to each output before it stores it. Plain C99: also emitted for devices. */
#ifndef THIMBLE_SIMD_ACTIVATION_H_
#define THIMBLE_SIMD_ACTIVATION_H_

#include <stddef.h>

typedef enum kernel_activation {
  KERNEL_ACTIVATION_NONE = 0,
  KERNEL_ACTIVATION_RELU = 1,  /* v < 0 ? 0 : v (NaN stays NaN) */
  KERNEL_ACTIVATION_RELU6 = 2, /* v > 6 ? 6 : relu(v) */
} kernel_activation;

/* v after it, of the type of v. activation: one of kernel_activation; v: a variable. */
#define KERNEL_ACTIVATED(activation, v)                       \
  ((activation) == KERNEL_ACTIVATION_NONE               ? (v) \
   : (v) < 0                                            ? 0   \
   : (activation) == KERNEL_ACTIVATION_RELU6 && (v) > 6 ? 6   \
                                                        : (v))

#endif
