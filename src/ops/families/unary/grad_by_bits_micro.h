/* grad_by_bits for microcontrollers, in the place of the function of ref.h and with its results:
   eight numbers at a time. Plain C99. */
#include "ops/activation_bits/dims.h"

static void grad_by_bits_ref(real* dx, const real* dy, const uint8_t* bits,
                             const grad_by_bits_dims* d) {
  const int whole = d->slope == 0 ? d->n / 8 * 8 : 0;
  for (int i = 0; i < whole; i += 8, dx += 8, dy += 8, ++bits) {
    const int byte = *bits;
    dx[0] = byte & 1 ? dy[0] : 0;
    dx[1] = byte & 2 ? dy[1] : 0;
    dx[2] = byte & 4 ? dy[2] : 0;
    dx[3] = byte & 8 ? dy[3] : 0;
    dx[4] = byte & 16 ? dy[4] : 0;
    dx[5] = byte & 32 ? dy[5] : 0;
    dx[6] = byte & 64 ? dy[6] : 0;
    dx[7] = byte & 128 ? dy[7] : 0;
  }
  for (int i = 0; i < d->n - whole; ++i) {
    const int set = bits[i / 8] >> (i % 8) & 1;
    dx[i] = set ? dy[i] : d->slope != 0 ? d->slope * dy[i] : 0;
  }
}
