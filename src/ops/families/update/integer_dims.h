/* Sizes of updates of whole numbers (integer_ref.h). Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_COMMON_INTEGER_DIMS_H_
#define THIMBLE_OPS_COMMON_INTEGER_DIMS_H_

#include <stdint.h>

/* The parameter is [outer, size, inner] around the axis of which a part is trained, the part
   [outer, count, inner]. */
typedef struct integer_dims {
  int n; /* elements that are trained */
  int size;
  int inner;
  int count;    /* of indices, which stand behind the kernel's parameters; 0: all are trained */
  int unit_run; /* elements in a row that have one unit */
  int units;    /* 0: a number stands for itself */
  int states;   /* that the rule keeps */
  int is_wide;  /* int32_t, else int8_t */
  int shrinks;  /* decay multiplies the parameter, else it is added to the gradient */
  uint32_t stream;
  double decay;
} integer_dims;

#endif
