#include "ops/broadcast_to/dims.h"

BROADCAST_REF(broadcast_values)

/* y: x, of any type, repeated; no aliasing. */
static void broadcast_to_ref(unsigned char* y, const unsigned char* x, const broadcast_to_dims* d) {
  if (d->element.is_real) {
    broadcast_values_ref((real*)y, (const real*)x, &d->values);
    return;
  }
  const size_t bytes = COPY_BYTES(d->element);
  for (int i = 0; i < d->values.n; ++i) {
    ptrdiff_t at = 0;
    int rest = i;
    for (int a = 0; a < d->values.count; ++a) {
      at += (ptrdiff_t)(rest % d->values.size[a]) * d->values.stride[a];
      rest /= d->values.size[a];
    }
    if (copy_is_packed(d->element)) {
      copy_packed(y, i, x, at, 1, 1, d->element.bits);
    } else {
      memcpy(y + (size_t)i * bytes, x + at * (ptrdiff_t)bytes, bytes);
    }
  }
  if (copy_is_packed(d->element)) copy_clear_rest(y, d->values.n, d->element.bits);
}
