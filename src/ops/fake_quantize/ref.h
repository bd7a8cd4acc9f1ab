#include "ops/fake_quantize/dims.h"

/* x / scale rounded to a whole number, halves to even; with parts, it is a multiple of 1 / parts
   first. In f32 whatever `real` is, as on int8. */
static float fake_quantize_nearest(float v, const fake_quantize_dims* d) {
  if (d->parts > 1) v = (float)rint(v * d->parts) / d->parts;
  return (float)rint(v);
}

/* y = scale * clamp(round(x / scale), low, high). x, y: [outer, channels, inner], y may be x;
   scale: [channels]. */
static void fake_quantize_ref(real* y, const real* x, const real* scale,
                              const fake_quantize_dims* d) {
  ptrdiff_t at = 0;
  for (int o = 0; o < d->outer; ++o) {
    for (int c = 0; c < d->channels; ++c) {
      for (int i = 0; i < d->inner; ++i, ++at) {
        const float near = fake_quantize_nearest((float)x[at] / (float)scale[c], d);
        y[at] = scale[c] * (near < d->low ? d->low : near > d->high ? d->high : near);
      }
    }
  }
}

/* dx = dy where the rounded number is within the bounds, else 0; dscale = the sum of dy times the
   bound beyond it, and times what rounding adds inside. dx may be dy or x. */
static void fake_quantize_grad_ref(real* dx, real* dscale, const real* dy, const real* x,
                                   const real* scale, const fake_quantize_dims* d) {
  for (int c = 0; c < d->channels; ++c) {
    real sum = 0;
    for (int o = 0; o < d->outer; ++o) {
      ptrdiff_t at = ((ptrdiff_t)o * d->channels + c) * d->inner;
      for (int i = 0; i < d->inner; ++i, ++at) {
        const float v = (float)x[at] / (float)scale[c];
        const float near = fake_quantize_nearest(v, d);
        const int beyond = near < d->low || near > d->high;
        sum += dy[at] * (near < d->low ? d->low : near > d->high ? d->high : near - v);
        dx[at] = beyond ? 0 : dy[at];
      }
    }
    dscale[c] = sum;
  }
}
