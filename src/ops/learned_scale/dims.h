/* The least ratio of learned_scale: scales stay above 0. Plain C99. */
#ifndef THIMBLE_OPS_LEARNED_SCALE_DIMS_H_
#define THIMBLE_OPS_LEARNED_SCALE_DIMS_H_

#define LEARNED_SCALE_LEAST 0.0009765625F

#endif
