#include "ops/cast/dims.h"

/* y[i] = x[i] in another type, as element_convert says; ELEMENT_F32 stands for `real`. x, y: [n],
   the bits of y after the last element 0; no aliasing. */
static void cast_ref(unsigned char* y, const unsigned char* x, const cast_dims* d) {
  const int reals = sizeof(real) == sizeof(double) ? ELEMENT_F64 : ELEMENT_F32;
  const int from = d->from == ELEMENT_F32 ? reals : d->from;
  const int to = d->to == ELEMENT_F32 ? reals : d->to;
  if (to == ELEMENT_BOOL || to == ELEMENT_I4) memset(y, 0, (size_t)d->bytes);
  for (int i = 0; i < d->n; ++i) element_convert(y, to, x, from, i);
}
