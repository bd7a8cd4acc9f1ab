/* How many bytes a kernel touches of each argument, found from its sizes alone. A device that reads
   a program from a file compares them with the memory that the file gives the kernel. The function
   that finds them is named after the kernel, conv2d_ref_extents, or, where kernels of a family have
   one output, after their parameters and the number of their inputs, loss_dims_3_extents. Plain
   C99. */
#ifndef THIMBLE_OPS_FAMILIES_EXTENTS_EXTENTS_H_
#define THIMBLE_OPS_FAMILIES_EXTENTS_EXTENTS_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { EXTENTS_OUT = 4, EXTENTS_IN = 8, EXTENTS_MOST_SIZE = 1 << 14, EXTENTS_MOST = 1 << 26 };

/* Arguments in the order of the op's outputs and inputs; 0 bytes: the kernel does not look at it. A
   bit of `optional` (`optional_out`) says that the input (output) may be left out. paired: outputs
   from 1 on and inputs from 4 on are there or left out together, as states of an optimizer. */
typedef struct kernel_extents {
  int64_t out[EXTENTS_OUT];
  int64_t in[EXTENTS_IN];
  uint32_t optional;
  uint32_t optional_out;
  int paired;
} kernel_extents;

/* The product of four sizes of at least 1, or 0 where it is above EXTENTS_MOST or a size is not
   positive. */
static inline int64_t extents_product(int a, int b, int c, int d) {
  const int sizes[4] = {a, b, c, d};
  int64_t product = 1;
  for (int i = 0; i < 4; ++i) {
    if (sizes[i] < 1 || sizes[i] > EXTENTS_MOST) return 0;
    product *= sizes[i];
    if (product > EXTENTS_MOST) return 0;
  }
  return product;
}

/* Whether a step, a distance or a window is of a size with which no index overflows. */
static inline int extents_is_small(int size, int least) {
  return size >= least && size <= EXTENTS_MOST_SIZE;
}

#endif
