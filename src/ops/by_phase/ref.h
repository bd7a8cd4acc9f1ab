#include "ops/families/move/copy_dims.h"

/* Runs only where no phase was chosen, which then means training. y, training: [n]. */
static void by_phase_ref(unsigned char* y, const unsigned char* training,
                         const unsigned char* inference, const copy_dims* d) {
  (void)inference;
  if (d->n > 0) memcpy(y, training, (size_t)d->n * COPY_BYTES(d->element));
}
