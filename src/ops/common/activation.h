/* What a kernel may do to each output before it stores it. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_COMMON_ACTIVATION_H_
#define THIMBLE_OPS_COMMON_ACTIVATION_H_

#include <stddef.h>

typedef enum kernel_activation {
  KERNEL_ACTIVATION_NONE = 0,
  KERNEL_ACTIVATION_RELU = 1, /* v < 0 ? 0 : v (NaN stays NaN) */
} kernel_activation;

#endif
