/* Sizes of broadcast_to. Plain C99. */
#ifndef THIMBLE_OPS_BROADCAST_TO_DIMS_H
#define THIMBLE_OPS_BROADCAST_TO_DIMS_H

#include <string.h>

#include "ops/families/binary/broadcast_dims.h"
#include "ops/families/move/copy_dims.h"

typedef struct {
  broadcast_dims values;
  copy_element element;
} broadcast_to_dims;

#endif
