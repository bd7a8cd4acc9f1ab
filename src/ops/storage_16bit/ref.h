#include "ir/element.h"
#include "ops/storage_16bit/dims.h"

/* y[i] = x[i] in 16 bits. x, y: [n]; nothing aliases. */
static void to_16bit_ref(uint16_t* y, const real* x, const bits16_dims* d) {
  for (int i = 0; i < d->n; ++i) {
    const float value = (float)x[i];
    y[i] = d->brain_16 ? element_float_to_bf16(value) : element_float_to_f16(value);
  }
}

/* y[i] = x[i], exactly. x, y: [n]; nothing aliases. */
static void from_16bit_ref(real* y, const uint16_t* x, const bits16_dims* d) {
  for (int i = 0; i < d->n; ++i) {
    y[i] = d->brain_16 ? element_bf16_to_float(x[i]) : element_f16_to_float(x[i]);
  }
}
