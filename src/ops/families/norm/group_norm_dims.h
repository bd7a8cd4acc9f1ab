/* Sizes of normalisations over the positions of one image. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_COMMON_GROUP_NORM_DIMS_H_
#define THIMBLE_OPS_COMMON_GROUP_NORM_DIMS_H_

#include <stddef.h>

/* Tensors are [images, positions, channels]; each run of channels / groups channels of an image is
   normalised by itself. */
typedef struct group_norm_dims {
  int images;
  int positions;
  int channels;
  int groups;
  float epsilon;  /* added to the variance */
  float momentum; /* weight of the batch in the running statistics */
} group_norm_dims;

#endif
