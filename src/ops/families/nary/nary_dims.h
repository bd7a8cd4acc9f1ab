/* How an elementwise kernel of up to four broadcast tensors walks over them. Plain C99: also
   emitted for devices. */
#ifndef THIMBLE_OPS_COMMON_NARY_DIMS_H
#define THIMBLE_OPS_COMMON_NARY_DIMS_H

#include <stddef.h>
#include <stdint.h>

enum { NARY_MAX_INPUTS = 4, NARY_MAX_AXES = 8 };

/* The axes of the result, innermost first; axes of size 1 are left out and neighbours that all
   inputs walk through alike are merged. Along the innermost axis every stride is 0 or 1. */
typedef struct {
  int n;     /* elements of the result */
  int count; /* axes, at least 1 */
  int size[NARY_MAX_AXES];
  int stride[NARY_MAX_INPUTS][NARY_MAX_AXES]; /* 0: the input is repeated */
  int choice;                                 /* what the op makes of it */
} nary_dims;

/* Where the run of the innermost axis begins in each input that holds the result's element `begin`,
   a multiple of size[0]. */
static inline void nary_offsets(ptrdiff_t* at, int begin, const nary_dims* d) {
  for (int i = 0; i < NARY_MAX_INPUTS; ++i) at[i] = 0;
  begin /= d->size[0];
  for (int axis = 1; axis < d->count; ++axis) {
    for (int i = 0; i < NARY_MAX_INPUTS; ++i) {
      at[i] += (ptrdiff_t)(begin % d->size[axis]) * d->stride[i][axis];
    }
    begin /= d->size[axis];
  }
}

/* Runs over the result: `i` is the element, at[0], at[1], ... the elements of the inputs. */
#define NARY_FOR_EACH(d, at, body)                                            \
  for (int begin = 0; begin < (d)->n; begin += (d)->size[0]) {                \
    ptrdiff_t at[NARY_MAX_INPUTS];                                            \
    nary_offsets(at, begin, d);                                               \
    for (int i = begin; i < begin + (d)->size[0]; ++i) {                      \
      body;                                                                   \
      for (int k = 0; k < NARY_MAX_INPUTS; ++k) (at)[k] += (d)->stride[k][0]; \
    }                                                                         \
  }

#endif
