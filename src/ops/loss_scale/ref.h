#include "ops/loss_scale/dims.h"

/* y: [1] = 1 if an element of x: [n] is infinite or NaN, or previous: [1] (or NULL) is not 0; else
   0. ELEMENT_F32 stands for `real`. */
static void has_non_finite_ref(int32_t* y, const unsigned char* x, const int32_t* previous,
                               const gradient_dims* d) {
  const int reals = sizeof(real) == sizeof(double) ? ELEMENT_F64 : ELEMENT_F32;
  const int type = d->type == ELEMENT_F32 ? reals : d->type;
  int found = previous && *previous != 0;
  for (int i = 0; i < d->n; ++i) {
    const double value = element_load_real(x, type, i);
    found |= value - value != 0;
  }
  *y = found;
}

/* y: [n] = grad / scale: [1], the n elements of grad from `first` on. ELEMENT_F32 stands for
   `real`. No aliasing, except that y may be a grad of reals. */
static void unscale_gradient_ref(real* y, const unsigned char* grad, const real* scale,
                                 const gradient_dims* d) {
  const int reals = sizeof(real) == sizeof(double) ? ELEMENT_F64 : ELEMENT_F32;
  const int type = d->type == ELEMENT_F32 ? reals : d->type;
  const real factor = (real)(1.0 / (double)*scale);
  for (int i = 0; i < d->n; ++i) {
    y[i] = factor * (real)element_load_real(grad, type, (ptrdiff_t)d->first + i);
  }
}

/* number: [1] = 0 if found: [1] is not 0, else step: [1] - skipped: [1]. */
static void update_number_ref(int32_t* number, const int32_t* step, const int32_t* skipped,
                              const int32_t* found) {
  *number = *found ? 0 : *step - *skipped;
}

/* out: {scale [1], good_steps [1], skipped [1]}, each the memory of the input of that name or a
   copy of it. found: [1]. */
static void update_loss_scale_ref(void* const* out, const real* scale, const int32_t* good_steps,
                                  const int32_t* skipped, const int32_t* found,
                                  const loss_scale_dims* d) {
  real* scale_out = (real*)out[0];
  int32_t* good_out = (int32_t*)out[1];
  int32_t* skipped_out = (int32_t*)out[2];
  if (*found) {
    *scale_out = (real)((double)*scale * d->backoff);
    *skipped_out = *skipped + 1;
    *good_out = 0;
    return;
  }
  const int32_t good = *good_steps + 1;
  const int grows = good >= d->interval;
  const float grown = (float)((double)*scale * d->growth);
  *scale_out = grows && grown - grown == 0 ? (real)grown : *scale;
  *skipped_out = *skipped;
  *good_out = grows ? 0 : good;
}
