#include "ops/bitwise/dims.h"

BITWISE_REF(bitwise_and, a& b)
BITWISE_REF(bitwise_or, a | b)
BITWISE_REF(bitwise_xor, a ^ b)
BITWISE_REF(bitwise_left_shift, bitwise_left(a, b, bits))
BITWISE_REF(bitwise_right_shift, bitwise_right(a, b, bits))

BITWISE_PART(bitwise_not, ~a)
static void bitwise_not_ref(unsigned char* y, const void* a, const bitwise_dims* d) {
  bitwise_not_part(y, a, NULL, d, 0, d->walk.n);
}
