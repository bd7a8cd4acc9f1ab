/* quantized_conv2d_input_grad_masked for the target helium: the gradient, and then the mask. */
#include "ops/families/quantized/input_grad_helium.h"
#include "ops/families/unary/grad_by_bits_helium.h"

static void quantized_conv2d_input_grad_masked_ref(real* dx, const real* dy, const int8_t* w,
                                                   const uint8_t* bits,
                                                   const conv2d_input_grad_dims* d) {
  const grad_by_bits_dims mask = {d->n * d->h * d->w * d->c, 0};
  quantized_conv2d_input_grad_ref(dx, dy, w, d);
  grad_by_bits_ref(dx, dx, bits, &mask);
}
