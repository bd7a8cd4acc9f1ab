#include "ops/quantized_conv2d_rows/dims.h"

/* Row p of a stage's result, of one image. x: row i of the image is at i modulo `rows`. */
static void quantized_conv2d_rows_row(int8_t* y, const int8_t* x, int rows, const int8_t* w,
                                      const int32_t* bias, const quantized_conv2d_dims* dims,
                                      const quantized_factor* factors, int p) {
  const conv_dims* d = &dims->conv;
  const int group_c = d->c / d->groups;
  const int group_k = d->k / d->groups;
  for (int q = 0; q < d->q; ++q) {
    for (int k = 0; k < d->k; ++k) {
      const int first_c = k / group_k * group_c;
      int64_t sum = bias[k];
      for (int r = 0; r < d->r; ++r) {
        const int row = p * d->stride_h - d->pad_top + r * d->dilation_h;
        if (row < 0 || row >= d->h) continue;
        for (int s = 0; s < d->s; ++s) {
          const int column = q * d->stride_w - d->pad_left + s * d->dilation_w;
          if (column < 0 || column >= d->w) continue;
          const int8_t* pixel = x + ((ptrdiff_t)(row % rows) * d->w + column) * d->c + first_c;
          const int8_t* tap = w + (((ptrdiff_t)k * d->r + r) * d->s + s) * group_c;
          for (int c = 0; c < group_c; ++c) {
            sum += (pixel[c] - dims->input_zero_point) * tap[c];
          }
        }
      }
      *y++ = quantized_requantize(quantized_saturate(sum), &factors[k], &dims->out);
    }
  }
}

/* quantized_conv2d, one after another. A row of a stage is computed when the next stage needs it;
   of the rows between two stages, those that the window covers are kept. in: x [n,h,w,c], then
   weight and bias of each stage; workspace: the rows between stages; y: of the last stage,
   [n,p,q,k]; y aliases nothing. */
static void quantized_conv2d_rows_ref(int8_t* y, const void* const* in, void* workspace,
                                      const quantized_conv2d_rows_dims* d) {
  const int last = d->count - 1;
  const int8_t* const x = (const int8_t*)in[0];
  const quantized_factor* factors[QUANTIZED_ROWS_STAGES];
  int8_t* between[QUANTIZED_ROWS_STAGES]; /* what a stage makes */
  factors[0] = QUANTIZED_FACTORS(d);
  between[0] = (int8_t*)workspace;
  for (int i = 1; i < d->count; ++i) {
    const conv_dims* stage = &d->stages[i].conv;
    factors[i] = factors[i - 1] + stage->c;
    between[i] = between[i - 1] + (ptrdiff_t)quantized_rows_kept(stage) * stage->w * stage->c;
  }
  const conv_dims* first = &d->stages[0].conv;
  const conv_dims* end = &d->stages[last].conv;
  for (int n = 0; n < end->n; ++n) {
    int made[QUANTIZED_ROWS_STAGES] = {0}; /* rows of each stage that are computed */
    int i = last;
    while (made[last] < end->p) {
      const conv_dims* stage = &d->stages[i].conv;
      int needed = made[i] * stage->stride_h - stage->pad_top + (stage->r - 1) * stage->dilation_h;
      if (needed > stage->h - 1) needed = stage->h - 1;
      if (i > 0 && made[i - 1] <= needed) {
        --i;
        continue;
      }
      const int row = made[i]++;
      const ptrdiff_t bytes = (ptrdiff_t)stage->q * stage->k;
      const int8_t* from =
          i > 0 ? between[i - 1] : x + (ptrdiff_t)n * first->h * first->w * first->c;
      const int rows = i > 0 ? quantized_rows_kept(stage) : stage->h;
      int8_t* to = i < last ? between[i] + row % quantized_rows_kept(&d->stages[i + 1].conv) * bytes
                            : y + ((ptrdiff_t)n * end->p + row) * bytes;
      quantized_conv2d_rows_row(to, from, rows, (const int8_t*)in[1 + 2 * i],
                                (const int32_t*)in[2 + 2 * i], &d->stages[i], factors[i], row);
      if (i < last) ++i;
    }
  }
}
