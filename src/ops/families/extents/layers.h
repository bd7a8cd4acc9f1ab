/* Extents of convolutions, matrix products, pooling and softmax. Plain C99. */
#ifndef THIMBLE_OPS_FAMILIES_EXTENTS_LAYERS_H_
#define THIMBLE_OPS_FAMILIES_EXTENTS_LAYERS_H_

#include "ops/families/conv/conv_kernel_dims.h"
#include "ops/families/extents/extents.h"
#include "ops/families/pool/pool_dims.h"
#include "ops/families/reduction/axis_dims.h"
#include "ops/matmul/dims.h"

typedef struct conv_extents {
  int64_t x, w, y, k,
      c; /* bytes of the image, the weights, the result, and a bias of either side */
} conv_extents;

static int conv_extents_of(const conv_dims* d, conv_extents* e) {
  const int64_t x = extents_product(d->n, d->h, d->w, d->c);
  const int64_t y = extents_product(d->n, d->p, d->q, d->k);
  if (x == 0 || y == 0 || d->groups < 1 || d->c % d->groups != 0 || d->k % d->groups != 0) return 0;
  const int64_t w = extents_product(d->k, d->r, d->s, d->c / d->groups);
  const int sizes[] = {d->h, d->w,        d->p,        d->q,          d->r,
                       d->s, d->stride_h, d->stride_w, d->dilation_h, d->dilation_w};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    if (!extents_is_small(sizes[i], 1)) return 0;
  }
  if (w == 0 || !extents_is_small(d->pad_top, -EXTENTS_MOST_SIZE)) return 0;
  if (!extents_is_small(d->pad_left, -EXTENTS_MOST_SIZE)) return 0;
  if (d->k_first < 0 || d->k_count < 0 || d->k_count > d->k || d->k_first > d->k - d->k_count) {
    return 0;
  }
  if (d->k_count == 0 && d->k_first != 0) return 0;
  e->x = x * (int64_t)sizeof(float);
  e->w = w * (int64_t)sizeof(float);
  e->y = y * (int64_t)sizeof(float);
  e->k = d->k * (int64_t)sizeof(float);
  e->c = d->c * (int64_t)sizeof(float);
  return 1;
}

static int conv2d_ref_extents(const void* params, kernel_extents* e) {
  conv_extents all;
  if (!conv_extents_of((const conv_dims*)params, &all)) return 0;
  e->out[0] = all.y;
  e->in[0] = all.x;
  e->in[1] = all.w;
  e->in[2] = all.k;
  e->optional = 1U << 2;
  return 1;
}

static int conv2d_input_grad_ref_extents(const void* params, kernel_extents* e) {
  conv_extents all;
  if (!conv_extents_of((const conv_dims*)params, &all)) return 0;
  e->out[0] = all.x;
  e->in[0] = all.y;
  e->in[1] = all.w;
  e->in[2] = all.c;
  e->optional = 1U << 2;
  return 1;
}

static int conv2d_weight_grad_ref_extents(const void* params, kernel_extents* e) {
  const conv_dims* d = (const conv_dims*)params;
  conv_extents all;
  if (!conv_extents_of(d, &all)) return 0;
  e->out[0] = d->k_count > 0 ? all.w / d->k * d->k_count : all.w;
  e->in[0] = all.x;
  e->in[1] = all.y;
  return 1;
}

static int matmul_ref_extents(const void* params, kernel_extents* e) {
  const matmul_dims* d = (const matmul_dims*)params;
  const int rows = d->a_rows > 0 ? d->a_rows : d->m;
  const int64_t a = extents_product(d->broadcast_a ? 1 : d->batch, rows, d->k, 1);
  const int64_t b = extents_product(d->broadcast_b ? 1 : d->batch, d->n, d->k, 1);
  const int64_t y = extents_product(d->batch, d->m, d->n, 1);
  if (a == 0 || b == 0 || y == 0 || d->a_rows < 0 || d->a_first < 0) return 0;
  if (d->a_rows == 0 ? d->a_first != 0 : d->batch != 1 || d->m > rows || d->a_first > rows - d->m) {
    return 0;
  }
  e->out[0] = y * (int64_t)sizeof(float);
  e->in[0] = a * (int64_t)sizeof(float);
  e->in[1] = b * (int64_t)sizeof(float);
  e->in[2] = d->n * (int64_t)sizeof(float);
  e->optional = 1U << 2;
  return 1;
}

/* Elements of the image and of the result; 0 where a window would hold no cell of the image. */
static int pool_extents_of(const pool_dims* d, int64_t* x, int64_t* y) {
  *x = extents_product(d->n, d->h, d->w, d->c);
  *y = extents_product(d->n, d->p, d->q, d->c);
  const int sizes[] = {d->h, d->w,        d->p,        d->q,          d->r,
                       d->s, d->stride_h, d->stride_w, d->dilation_h, d->dilation_w};
  const int pads[] = {d->pad_top, d->pad_left, d->pad_bottom, d->pad_right};
  if (*x == 0 || *y == 0) return 0;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) {
    if (!extents_is_small(sizes[i], 1)) return 0;
  }
  for (size_t i = 0; i < sizeof pads / sizeof pads[0]; ++i) {
    if (!extents_is_small(pads[i], -EXTENTS_MOST_SIZE)) return 0;
  }
  for (int p = 0; p < d->p; ++p) {
    const pool_range rows = pool_cells(p, d->stride_h, d->pad_top, d->dilation_h, d->r, d->h);
    if (rows.begin >= rows.end) return 0;
  }
  for (int q = 0; q < d->q; ++q) {
    const pool_range columns = pool_cells(q, d->stride_w, d->pad_left, d->dilation_w, d->s, d->w);
    if (columns.begin >= columns.end) return 0;
  }
  return 1;
}

static int max_pool2d_ref_extents(const void* params, kernel_extents* e) {
  const pool_dims* d = (const pool_dims*)params;
  int64_t x = 0, y = 0;
  if (!pool_extents_of(d, &x, &y)) return 0;
  e->out[0] = y * (int64_t)sizeof(float);
  e->out[1] = d->wide_index ? y * 4 : y;
  e->in[0] = x * (int64_t)sizeof(float);
  e->optional_out = 1U << 1;
  return 1;
}

static int max_pool2d_inference_ref_extents(const void* params, kernel_extents* e) {
  const int fits = max_pool2d_ref_extents(params, e);
  e->out[1] = 0;
  return fits;
}

static int max_pool2d_grad_ref_extents(const void* params, kernel_extents* e) {
  const pool_dims* d = (const pool_dims*)params;
  int64_t x = 0, y = 0;
  if (!pool_extents_of(d, &x, &y)) return 0;
  e->out[0] = x * (int64_t)sizeof(float);
  e->in[0] = y * (int64_t)sizeof(float);
  e->in[1] = d->wide_index ? y * 4 : y;
  return 1;
}

static int max_pool2d_packed_grad_ref_extents(const void* params, kernel_extents* e) {
  const int bits = ((const pool_dims*)params)->place_bits;
  if (!max_pool2d_grad_ref_extents(params, e)) return 0;
  if (bits != 1 && bits != 2 && bits != 4) return 0;
  e->in[1] = (e->in[0] / (int64_t)sizeof(float) * bits + 7) / 8;
  return 1;
}

static int max_pool2d_pack_ref_extents(const void* params, kernel_extents* e) {
  const pool_pack_dims* d = (const pool_pack_dims*)params;
  if (d->n < 1 || d->n > EXTENTS_MOST) return 0;
  if (d->width != 1 && d->width != 2 && d->width != 4) return 0;
  e->out[0] = ((int64_t)d->n * d->width + 7) / 8;
  e->in[0] = d->n;
  return 1;
}

static int average_pool2d_ref_extents(const void* params, kernel_extents* e) {
  const int fits = max_pool2d_ref_extents(params, e);
  e->out[1] = 0;
  return fits && ((const pool_dims*)params)->dilation_h == 1 &&
         ((const pool_dims*)params)->dilation_w == 1;
}

static int average_pool2d_grad_ref_extents(const void* params, kernel_extents* e) {
  const int fits = max_pool2d_grad_ref_extents(params, e);
  e->in[1] = 0;
  return fits && ((const pool_dims*)params)->dilation_h == 1 &&
         ((const pool_dims*)params)->dilation_w == 1;
}

static int softmax_ref_extents(const void* params, kernel_extents* e) {
  const axis_dims* d = (const axis_dims*)params;
  e->out[0] = e->in[0] = extents_product(d->outer, d->size, d->inner, 1) * (int64_t)sizeof(float);
  return e->out[0] > 0;
}

static int softmax_grad_ref_extents(const void* params, kernel_extents* e) {
  const int fits = softmax_ref_extents(params, e);
  e->in[1] = e->in[0];
  return fits;
}

#endif
