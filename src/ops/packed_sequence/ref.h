#include "ops/packed_sequence/dims.h"

/* Sequence n of each op. x, y, dx: [batch, steps, width]; last, dy of last: [batch, width]; y may
   be x in mask_sequence alone. */
static void mask_sequence_part(real* y, const real* x, const int32_t* lengths, int n,
                               const sequence_dims* d) {
  const size_t all = (size_t)d->steps * (size_t)d->width;
  const size_t counted = (size_t)sequence_length(lengths[n], d) * (size_t)d->width;
  if (all == 0) return;
  y += (size_t)n * all;
  x += (size_t)n * all;
  if (y != x && counted > 0) memcpy(y, x, counted * sizeof(real));
  if (all > counted) memset(y + counted, 0, (all - counted) * sizeof(real));
}

static void reverse_sequence_part(real* y, const real* x, const int32_t* lengths, int n,
                                  const sequence_dims* d) {
  const int length = sequence_length(lengths[n], d);
  const size_t bytes = (size_t)d->width * sizeof(real);
  if (bytes == 0) return;
  y += (ptrdiff_t)n * d->steps * d->width;
  x += (ptrdiff_t)n * d->steps * d->width;
  for (int t = 0; t < d->steps; ++t) {
    const int from = t < length ? length - 1 - t : t;
    memcpy(y + (ptrdiff_t)t * d->width, x + (ptrdiff_t)from * d->width, bytes);
  }
}

static void last_of_sequence_part(real* last, const real* x, const int32_t* lengths, int n,
                                  const sequence_dims* d) {
  const int length = sequence_length(lengths[n], d);
  const size_t bytes = (size_t)d->width * sizeof(real);
  if (bytes == 0) return;
  last += (ptrdiff_t)n * d->width;
  if (length == 0) {
    memset(last, 0, bytes);
  } else {
    memcpy(last, x + ((ptrdiff_t)n * d->steps + length - 1) * d->width, bytes);
  }
}

static void last_of_sequence_grad_part(real* dx, const real* dy, const int32_t* lengths, int n,
                                       const sequence_dims* d) {
  const int length = sequence_length(lengths[n], d);
  if (d->steps == 0 || d->width == 0) return;
  dx += (ptrdiff_t)n * d->steps * d->width;
  memset(dx, 0, (size_t)d->steps * (size_t)d->width * sizeof(real));
  if (length > 0) {
    memcpy(dx + (ptrdiff_t)(length - 1) * d->width, dy + (ptrdiff_t)n * d->width,
           (size_t)d->width * sizeof(real));
  }
}

SEQUENCE_REF(mask_sequence)
SEQUENCE_REF(reverse_sequence)
SEQUENCE_REF(last_of_sequence)
SEQUENCE_REF(last_of_sequence_grad)
