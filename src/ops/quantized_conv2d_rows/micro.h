/* quantized_conv2d_rows for microcontrollers, in the place of the function of that name in ref.h.
   Plain C99. */
#include "ops/families/quantized/conv_micro.h"
#include "ops/quantized_conv2d_rows/dims.h"

static void quantized_conv2d_rows_row(int8_t* y, const int8_t* x, int rows, const int8_t* w,
                                      const int32_t* bias, const quantized_conv2d_dims* dims,
                                      const quantized_factor* factors, int p) {
  const quantized_micro_out out = quantized_micro_to(y, NULL, &dims->out);
  quantized_micro_rows(&out, 0, x, rows, w, bias, dims, factors, p, p + 1);
}
