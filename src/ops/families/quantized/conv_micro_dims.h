/* What conv_micro.h and conv_cortex_m_dsp.h share. Plain C99: also emitted for devices. */
#ifndef THIMBLE_OPS_COMMON_CONV_MICRO_DIMS_H_
#define THIMBLE_OPS_COMMON_CONV_MICRO_DIMS_H_

#include "ops/quantized_conv2d/dims.h"

/* Pixels that are computed together, and most taps of their windows: 5 KB of stack. */
#define QUANTIZED_MICRO_PIXELS 4
#define QUANTIZED_MICRO_TAPS 640

/* Added to a float of magnitude below 2^22 it leaves the nearest integer, halves to even, in the
   lowest bits. Floats of one sign are ordered as their bits are. */
#define QUANTIZED_MICRO_ROUND 12582912.0F
#define QUANTIZED_MICRO_ROUND_BITS 0x4b400000

#endif
