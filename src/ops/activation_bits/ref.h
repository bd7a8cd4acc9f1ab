#include "ops/activation_bits/dims.h"

static int passes_bit_test(real x, const bits_dims* d) {
  switch (d->test) {
    case 0:
      return x > d->low;
    case 1:
      return !(x <= d->low);
    case 2:
      return !(x <= d->low || x >= d->high);
    case 3:
      return !(x < d->low || x > d->high);
    default:
      return !(x >= d->low && x <= d->high);
  }
}

/* Bit i % 8 of bits[i / 8] = x[i] passes the test; 0 beyond the last. x: [n], nothing aliases. */
static void activation_bits_ref(uint8_t* bits, const real* x, const bits_dims* d) {
  for (int begin = 0; begin < d->n; begin += 8) {
    unsigned byte = 0;
    for (int i = begin; i < d->n && i < begin + 8; ++i) {
      byte |= (unsigned)passes_bit_test(x[i], d) << (i - begin);
    }
    bits[begin / 8] = (uint8_t)byte;
  }
}

/* dx[i] = dy[i] where its bit is set, else slope * dy[i]. dx: [n], may alias dy. */
static void grad_by_bits_ref(real* dx, const real* dy, const uint8_t* bits,
                             const grad_by_bits_dims* d) {
  for (int i = 0; i < d->n; ++i) {
    const int set = bits[i / 8] >> (i % 8) & 1;
    dx[i] = set ? dy[i] : d->slope != 0 ? d->slope * dy[i] : 0;
  }
}
