/* The kernels that are linked in. */
#ifndef THIMBLE_MICRO_KERNEL_TABLE_H
#define THIMBLE_MICRO_KERNEL_TABLE_H

#include "ops/families/extents/extents.h"

typedef struct micro_kernel {
  const char* name;
  uint32_t params_bytes;
  /* Sets the bytes that it touches; 0 where the parameters are none that it takes. */
  int (*extents)(const void* params, kernel_extents* e);
  void (*run)(void* const* out, const void* const* in, const void* params);
} micro_kernel;

extern const micro_kernel micro_kernels[];
extern const uint32_t micro_kernel_count;

#endif
