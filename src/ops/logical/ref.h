#include "ops/logical/dims.h"

/* Whether an element is not 0. */
static int logical_holds(const void* x, ptrdiff_t at, int type) {
  if (type == ELEMENT_F32) return ((const real*)x)[at] != 0;
  if (type == ELEMENT_U8) return ((const uint8_t*)x)[at] != 0;
  return element_is_floating(type) ? element_load_real(x, type, at) != 0
                                   : element_load_int(x, type, at) != 0;
}

LOGICAL_REF(logical_and, a&& b)
LOGICAL_REF(logical_or, a || b)
LOGICAL_REF(logical_xor, a != b)

LOGICAL_PART(logical_not, !a)
static void logical_not_ref(uint8_t* y, const void* a, const logical_dims* d) {
  logical_not_part(y, a, NULL, d, 0, d->walk.n);
}
