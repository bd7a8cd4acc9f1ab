/* How many products of int8 errors fit sums of int32. Plain C99: also emitted for devices. */
#ifndef THIMBLE_SIMD_INT8_ERROR_SUMS_H_
#define THIMBLE_SIMD_INT8_ERROR_SUMS_H_

/* Pixels whose products with an image fit: 2^16 * 128 * 255 < 2^31. */
#define INT8_ERROR_ROWS 65536
/* Products of errors times factors with weights that fit: 514 * 32640 * 128 < 2^31. */
#define INT8_ERROR_PRODUCTS 512
/* Taps of a depthwise window whose products with errors fit: 131071 * 128 * 128 < 2^31. */
#define INT8_ERROR_WINDOW 131071

#endif
