#include "ops/families/quantized/table_dims.h"

/* y[i] = the result of x[i]. x, y: [n]; y may be x. */
static void quantized_sigmoid_ref(int8_t* y, const int8_t* x, const quantized_table_dims* d) {
  quantized_look_up(y, x, d);
}

/* Whether each element of y lay within the bounds before it was clamped. bits: [n]. */
static void quantized_sigmoid_inside_ref(uint8_t* bits, const int8_t* x,
                                         const quantized_table_dims* d) {
  quantized_look_up_inside(bits, x, d);
}
