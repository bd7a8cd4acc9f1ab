/* sum + a * b, each rounded. Plain C99. */
#ifndef THIMBLE_OPS_COMMON_SUM_MICRO_H_
#define THIMBLE_OPS_COMMON_SUM_MICRO_H_

static inline float quantized_micro_plus(float sum, float a, float b) { return sum + a * b; }

#endif
