/* Sizes and constants of has_non_finite, unscale_gradient and update_loss_scale. Plain C99. */
#ifndef THIMBLE_OPS_LOSS_SCALE_DIMS_H_
#define THIMBLE_OPS_LOSS_SCALE_DIMS_H_

#include <stddef.h>
#include <stdint.h>

#include "ir/element.h"

typedef struct {
  int n;     /* elements */
  int type;  /* of the gradient: ELEMENT_F32, ELEMENT_F16 or ELEMENT_BF16 */
  int width; /* elements of a row (axis 0); 0: one number */
  int first; /* element of the gradient that is the first of the result */
} gradient_dims;

typedef struct {
  double growth;
  double backoff;
  int64_t interval;
} loss_scale_dims;

#endif
