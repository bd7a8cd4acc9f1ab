#include "ops/dequantize/dims.h"

/* y = scale * (x - zero point). x, y: [outer, channels, inner]; no aliasing. */
static void dequantize_ref(real* y, const int8_t* x, const dequantize_dims* d) {
  const dequantize_channel* channels = (const dequantize_channel*)(const void*)(d + 1);
  for (int o = 0; o < d->outer; ++o) {
    for (int c = 0; c < d->channels; ++c) {
      for (int i = 0; i < d->inner; ++i) {
        *y++ = channels[c].scale * (float)(*x++ - channels[c].zero_point);
      }
    }
  }
}
